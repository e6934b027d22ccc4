"""A report as plain data: everything that is said of a capture, whatever form it is printed in."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlint.capture.claim import Claim
from jaxlint.capture.memory_profile import LiveArrays
from jaxlint.capture.plan import Plan
from jaxlint.capture.pools import Pool
from jaxlint.capture.runtime import Holding
from jaxlint.capture.sizes import shown
from jaxlint.capture.subject import Subject
from jaxlint.record import record

_POINTS = 1200  # of a timeline that is drawn


@record
class PoolReport:
    """One allocator. Sizes in bytes, times in seconds since the first sample."""

    name: str
    capacity: int
    before: int  # in use when the capture began
    peak: int
    lifetime_peak: int  # since the process began
    samples: int
    breaks: int  # places where events are missing
    timeline: tuple[tuple[float, int], ...]  # highest in use of each stretch of time
    seconds: float


@record
class ExecutionReport:
    module: str
    number: int
    second: float
    in_use: int  # bytes when it began
    failed: bool
    waited: float  # seconds in the allocator


@record
class Report:
    """What is known of one capture, dump or module."""

    path: str
    host: str
    modules: tuple[str, ...]
    plan: Plan | None
    reason: str  # why this module
    pools: tuple[PoolReport, ...]  # the tightest first
    executions: tuple[ExecutionReport, ...]  # of the module in the first pool
    in_use: int | None  # when the last one began
    need: int | None  # bytes for the last one
    free: tuple[int, int] | None  # bytes left where it failed: in all, and the largest piece
    holdings: tuple[Holding, ...]
    between: tuple[tuple[str, int], ...]
    events: int
    claims: tuple[Claim, ...]
    live_arrays: tuple[LiveArrays, ...] = ()  # of memory.prof

    @property
    def failed(self) -> bool:
        return bool(self.executions) and self.executions[-1].failed


def together(holdings: Sequence[Holding]) -> list[Holding]:
    """For people: what several executions of one module left, as one; largest first."""
    by_module: dict[str, list[Holding]] = {}
    for holding in holdings:
        by_module.setdefault(holding.module or holding.what, []).append(holding)
    found = [_as_one(group) if group[0].module else group[0] for group in by_module.values()]
    return sorted(found, key=lambda holding: -holding.size)


def _as_one(group: Sequence[Holding]) -> Holding:
    if len(group) == 1:
        return group[0]
    numbers = sorted(holding.number for holding in group)
    listed = ", ".join(map(str, numbers if len(numbers) <= 4 else numbers[:3]))
    rest = f", … {numbers[-1]}" if len(numbers) > 4 else ""
    sizes = {holding.size for holding in group}
    each = f" ({len(group)} times {shown(sizes.pop())})" if len(sizes) == 1 else f" ({len(group)} of them)"
    module = group[0].module
    return Holding(f"outputs of {module} execution {listed}{rest}{each}", sum(h.size for h in group), module)


def build(subject: Subject, claims: tuple[Claim, ...]) -> Report:
    """Everything that a report needs. Raises wire.Damaged and CaptureError."""
    pool, last = subject.pool, subject.last
    free = pool.free_at(last.failed_at) if pool is not None and last is not None and subject.failed else None
    others = [p for p in subject.runtime.device_pools() if p is not pool]
    zero = pool.times[0] if pool is not None and pool.times else 0
    return Report(
        path=str(subject.path),
        host=subject.host,
        modules=tuple(module.title for module in subject.modules),
        plan=subject.plan,
        reason=subject.choice.reason if subject.choice is not None else "",
        pools=tuple(_pool(p) for p in [*([pool] if pool is not None else []), *others]),
        executions=tuple(
            ExecutionReport(
                module=e.module,
                number=e.number,
                second=(e.start - zero) / 1e12,
                in_use=pool.in_use_at(e.start) if pool is not None else 0,
                failed=subject.runtime.failed(e),
                waited=e.waited / 1e12,
            )
            for e in subject.executions
        ),
        in_use=subject.in_use,
        need=subject.need,
        free=(free.total, free.largest) if free is not None else None,
        holdings=tuple(subject.holdings),
        between=tuple(subject.between),
        events=subject.runtime.events,
        claims=claims,
    )


def _pool(pool: Pool) -> PoolReport:
    zero = pool.times[0] if pool.times else 0
    return PoolReport(
        name=pool.name,
        capacity=pool.capacity,
        before=pool.before,
        peak=pool.peak,
        lifetime_peak=pool.lifetime_peak,
        samples=len(pool.times),
        breaks=pool.breaks,
        timeline=_timeline(pool, zero),
        seconds=(pool.times[-1] - zero) / 1e12 if pool.times else 0.0,
    )


def _timeline(pool: Pool, zero: int) -> tuple[tuple[float, int], ...]:
    """In use over time: every sample, or, of many, the highest and the lowest of each stretch."""
    count = len(pool.times)
    points = [((pool.times[i] - zero) / 1e12, pool.in_use[i]) for i in _chosen(pool, count)]
    return ((0.0, pool.before), *points) if points else ()


def _chosen(pool: Pool, count: int) -> list[int]:
    if count <= _POINTS:
        return list(range(count))
    chosen: set[int] = {0, count - 1}
    step = count * 2 / _POINTS
    for part in range(_POINTS // 2):
        stretch = range(int(part * step), min(int((part + 1) * step), count))
        if stretch:
            chosen.add(max(stretch, key=pool.in_use.__getitem__))
            chosen.add(min(stretch, key=pool.in_use.__getitem__))
    return sorted(chosen)
