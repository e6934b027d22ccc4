"""Samples that do not say what they are: a column of numbers, with or without a time.

    while sleep 5; do free -m | awk '/Mem:/{print strftime("%T"), $3}'; done      12:00:05 12345
    while sleep 5; do ps -o rss= -p 4211; done                                     2345678

A program may print such lines as well, as its counters. So numbers without a time are read only where a log holds
nothing else; those with one only where there are three, none of them too small, and they do not count in equal
steps. The unit is that of the commands above, MiB of `free -m` and KiB of `ps`, and the report says that it is
assumed. A million MiB is more RAM than nearly all machines have, and no more than a usual process in KiB.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from jaxlint.triage.reading import Line

_TIMED = re.compile(
    r"^(?P<clock>(?:\d{4}[/-]\d\d[/-]\d\d[ T])?\d\d:\d\d:\d\d(?:[.,]\d+)?) +(?P<number>\d{1,12})\s*$"
)
_ALONE = re.compile(r"^\s*(?P<number>\d{1,12})\s*$")
_FEWEST = 3
_LEAST_MIB = 100  # no machine that runs jax uses less
_LEAST_KIB = 1024
_IN_KIB = 1_000_000

HOST = "host (no unit: read as MiB)"
RSS = "rss (no unit: read as KiB)"


class Reading(NamedTuple):
    """A sample that is believed: of which series, bytes, the line that it is in, its clock, the step before it."""

    name: str
    used: int
    line: Line
    clock: str
    step: int | None


@dataclass(slots=True)
class _Column:
    waiting: list[tuple[Line, str, int, int | None]] = field(default_factory=list)
    believed: bool = False
    foreign: bool = False  # the log holds lines of another kind


class Unmarked:
    """Collects columns of numbers, by log and rank."""

    def __init__(self) -> None:
        self._timed: dict[tuple[str, str], _Column] = {}
        self._alone: dict[tuple[str, str], _Column] = {}

    def timed(self, line: Line, step: int | None) -> list[Reading] | None:
        """What is known by a line that is a time and a number; None where it is none."""
        found = _TIMED.match(line.text)
        if not found:
            return None
        column = self._timed.setdefault((line.file, line.rank), _Column())
        return _readings(column, (line, found["clock"], int(found["number"]), step), _LEAST_MIB)

    def alone(self, line: Line, step: int | None) -> list[Reading] | None:
        """The same for a number alone, in a log that has held nothing else."""
        column = self._alone.setdefault((line.file, line.rank), _Column())
        found = None if column.foreign else _ALONE.match(line.text)
        if not found:
            column.foreign = True
            column.waiting.clear()
            return None
        return _readings(column, (line, "", int(found["number"]), step), _LEAST_KIB)

    def is_mixed(self, file: str, rank: str) -> bool:
        """Whether a log that began as numbers alone went on with something else: then it was no column."""
        column = self._alone.get((file, rank))
        return column is not None and column.foreign and column.believed


def _readings(column: _Column, new: tuple[Line, str, int, int | None], least: int) -> list[Reading]:
    column.waiting.append(new)
    numbers = [number for _, _, number, _ in column.waiting]
    if min(numbers) < least:
        column.waiting.clear()
        return []
    if not column.believed:
        if len(numbers) < _FEWEST or _counts(numbers):
            del column.waiting[:-_MOST_WAITING]
            return []
        column.believed = True
    in_kib = least == _LEAST_KIB or max(numbers) >= _IN_KIB
    name, shift = (RSS, 10) if in_kib else (HOST, 20)
    believed = [
        Reading(name, number << shift, line, clock, step) for line, clock, number, step in column.waiting
    ]
    column.waiting.clear()
    return believed


_MOST_WAITING = 64


def _counts(numbers: list[int]) -> bool:
    """Whether they go up in equal steps, as counters do."""
    steps = {b - a for a, b in pairwise(numbers)}
    return len(steps) == 1 and steps != {0}
