"""The two pictures of a report, as SVG: the allocator over time, and what the peak is made of."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from jaxlint.capture.plan import Plan
from jaxlint.capture.report import ExecutionReport, PoolReport
from jaxlint.capture.sizes import share, shown
from jaxlint.capture.treemap import Rectangle, layout

_WIDTH, _HEIGHT = 960, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 92, 16, 24, 40
_LEAST_SHARE = 0.002  # of a treemap that gets a rectangle of its own
_CHARACTER = 7.2  # width of one


def timeline(pool: PoolReport, executions: Sequence[ExecutionReport], need: int | None) -> str:
    """Bytes in use, sample by sample: waiting for memory takes seconds and steps take none, so that an axis of
    time would show the wait alone. Times stand below.
    """
    points = pool.timeline
    top = max(pool.capacity, need or 0, pool.peak, 1)
    plane = _Plane(len(points), top)
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="Bytes in use in {escape(pool.name)}">'
    ]
    for fraction in (0, 0.25, 0.5, 0.75, 1):
        y = plane.y(int(top * fraction))
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{shown(int(top * fraction))}</text>'
        )
    parts += _executions(executions, [second for second, _ in points], plane)
    steps = "".join(f"H{plane.x(i):.1f}V{plane.y(size):.1f}" for i, (_, size) in enumerate(points))
    start = f"M{plane.x(0):.1f},{plane.y(points[0][1] if points else 0):.1f}"
    floor = plane.y(0)
    parts.append(f'<path class="area" d="{start}{steps}V{floor:.1f}H{plane.x(0):.1f}Z"/>')
    parts.append(f'<path class="line" d="{start}{steps}"/>')
    parts.append(_mark(plane.y(pool.capacity), "capacity", f"capacity {shown(pool.capacity)}"))
    if need is not None and need > pool.capacity:
        parts.append(_mark(plane.y(need), "need", f"needed {shown(need)}", left=True))
    for i in range(0, len(points), max(len(points) // 6, 1)):
        anchor = "middle" if plane.x(i) < _WIDTH - 3 * _RIGHT else "end"
        parts.append(
            f'<text x="{plane.x(i):.1f}" y="{_HEIGHT - 14}" text-anchor="{anchor}">{_time(points[i][0])}</text>'
        )
    return "".join(parts) + "</svg>"


class _Plane(NamedTuple):
    """Where samples and bytes are on the picture."""

    samples: int
    top: int

    def x(self, index: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * index / max(self.samples - 1, 1)

    def y(self, size: int) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * size / self.top


def _executions(
    executions: Sequence[ExecutionReport], seconds: Sequence[float], plane: _Plane
) -> Iterator[str]:
    for execution in executions[-200:]:
        x = plane.x(min(bisect_left(seconds, execution.second), max(len(seconds) - 1, 0)))
        kind = "failed" if execution.failed else "launched"
        title = f"{execution.module} #{execution.number}, {shown(execution.in_use)} in use, {kind}"
        yield (
            f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}">'
            f"<title>{escape(title)}</title></line>"
        )


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.1f} {unit}"
    return f"{seconds * 1e6:.0f} µs"


def _mark(y: float, kind: str, label: str, *, left: bool = False) -> str:
    x, anchor = (_LEFT + 4, "start") if left else (_WIDTH - _RIGHT - 4, "end")
    return (
        f'<line class="{kind}" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="{kind}" x="{x}" y="{y - 5:.1f}" text-anchor="{anchor}">{escape(label)}</text>'
    )


class _Tile(NamedTuple):
    size: int
    kind: str  # a role, "parameters", "outputs" or "constants"
    label: str
    title: str


def peak(plan: Plan) -> str:
    """What is in device memory at the peak: parameters, outputs and the buffers of the temporary heap."""
    tiles = _tiles(plan)
    area = Rectangle(0, 0, _WIDTH, 420)
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} 420" role="img" aria-label="Buffers at the peak of {escape(plan.module)}">'
    ]
    for tile, place in zip(tiles, layout([tile.size for tile in tiles], area), strict=False):
        parts.append(
            f'<g class="tile {tile.kind}"><rect x="{place.x:.1f}" y="{place.y:.1f}" width="{place.width:.1f}"'
            f' height="{place.height:.1f}"/><title>{escape(tile.title)}</title>{_label(tile, place)}</g>'
        )
    return "".join(parts) + "</svg>"


def _tiles(plan: Plan) -> list[_Tile]:
    totals, whole = plan.totals, max(plan.totals.total, 1)
    tiles = [
        _Tile(size, kind, kind, f"{kind}: {shown(size)}")
        for kind, size in (
            ("parameters", totals.parameters),
            ("outputs", totals.outputs),
            ("constants", totals.constants),
        )
    ]
    rest = 0
    for buffer in plan.buffers:
        if buffer.size < _LEAST_SHARE * whole:
            rest += buffer.size
            continue
        place = str(buffer.frames[0]) if buffer.frames else "no Python line"
        what = f"stacks {buffer.stacked}" if buffer.stacked else buffer.op_name or buffer.instruction
        title = f"{shown(buffer.size)} ({share(buffer.size, whole)}) {buffer.shape}\n{buffer.role}: {what}\n{place}"
        tiles.append(_Tile(buffer.size, buffer.role.value, str(buffer.shape), title))
    tiles.append(_Tile(rest, "other", "small", f"small buffers: {shown(rest)}"))
    if plan.heap_peak is None:
        tiles.append(_Tile(totals.temp, "other", "temp", f"temp block: {shown(totals.temp)}"))
    return sorted((tile for tile in tiles if tile.size > 0), key=lambda tile: -tile.size)


def _label(tile: _Tile, place: Rectangle) -> str:
    """As much of shape and size as the rectangle has room for."""
    room = int((place.width - 10) / _CHARACTER)
    if place.height < 18 or room < 4:
        return ""
    lines = [tile.label, shown(tile.size)][: 1 if place.height < 36 else 2]
    return "".join(
        f'<text x="{place.x + 6:.1f}" y="{place.y + 16 + 16 * i:.1f}">{escape(_cut(line, room))}</text>'
        for i, line in enumerate(lines)
    )


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"
