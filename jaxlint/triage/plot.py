"""A series of numbers as a plot of characters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

_BLOCKS = " ▁▂▃▄▅▆▇█"
_PLAIN = " .:*#"


def plot(values: Sequence[float], *, width: int = 60, height: int = 5, blocks: bool = True) -> list[str]:
    """Rows from the top down, each `width` wide at most. The bottom is 0, the top the highest value.

    Of several values in one column the highest is drawn: a peak must not get lost.
    """
    columns = _columns(values, width)
    top = max(columns, default=0) or 1
    marks = _BLOCKS if blocks else _PLAIN
    steps = len(marks) - 1
    rows = []
    for row in reversed(range(height)):
        filled = (value / top * height - row for value in columns)
        rows.append("".join(marks[round(min(1, max(0, part)) * steps)] for part in filled))
    return rows


def _columns(values: Sequence[float], width: int) -> list[float]:
    if len(values) <= width:
        return list(values)
    edges = [len(values) * i // width for i in range(width + 1)]
    return [max(values[a:b]) for a, b in pairwise(edges)]
