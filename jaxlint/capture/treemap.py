"""A treemap: rectangles whose areas are sizes, laid out in rows that stay close to squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Rectangle(NamedTuple):
    x: float
    y: float
    width: float
    height: float


def layout(sizes: Sequence[int], area: Rectangle) -> list[Rectangle]:
    """A rectangle for each size; sizes are positive, largest first. The form of Bruls, Huizing and van Wijk."""
    total = sum(sizes)
    if not total:
        return []
    scale = area.width * area.height / total
    areas = [size * scale for size in sizes]
    found: list[Rectangle] = []
    start = 0
    while start < len(areas):
        side = min(area.width, area.height)
        end = start + 1
        while end < len(areas) and _worst(areas[start : end + 1], side) <= _worst(areas[start:end], side):
            end += 1
        area = _row(areas[start:end], area, found)
        start = end
    return found


def _worst(row: Sequence[float], side: float) -> float:
    """The longest side of a row's rectangles, compared with the other one."""
    total = sum(row)
    if side <= 0 or total <= 0:
        return float("inf")
    thick = total / side
    return max(max(part / thick / thick, thick * thick / part) if part else 1.0 for part in row)


def _row(row: Sequence[float], area: Rectangle, found: list[Rectangle]) -> Rectangle:
    """Put a row at the shorter side; what is left of the area."""
    total = sum(row)
    x, y, width, height = area
    if width >= height:
        thick = total / height if height else 0.0
        for part in row:
            length = part / thick if thick else 0.0
            found.append(Rectangle(x, y, thick, length))
            y += length
        return Rectangle(area.x + thick, area.y, max(width - thick, 0.0), height)
    thick = total / width if width else 0.0
    for part in row:
        length = part / thick if thick else 0.0
        found.append(Rectangle(x, y, length, thick))
        x += length
    return Rectangle(area.x, area.y + thick, width, max(height - thick, 0.0))
