"""Memory that each execution leaves behind."""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import NamedTuple

from jaxlint.capture.subject import Subject

STEADY = 0.02  # how far a step's growth may be from the usual one
_LEAST = 1 << 20  # bytes: less is no state


class Growth(NamedTuple):
    """Memory in use at the start of each execution, in bytes."""

    step: int  # what each execution adds
    first: int
    last: int


def of(subject: Subject) -> Growth | None:
    """Whether each execution leaves more behind than the one before; None where it does not, or cannot be told."""
    pool = subject.pool
    if pool is None:
        return None
    use = [pool.in_use_at(execution.start) for execution in subject.executions]
    steps = [after - before for before, after in pairwise(use)]
    if len(steps) < 2:
        return None
    usual = int(median(steps))
    steady = [abs(step - usual) <= STEADY * usual for step in steps]
    # A pool that fills up while the first steps warm up is no leak: the last ones have to grow as well.
    if usual < _LEAST or sum(steady) < 0.6 * len(steps) or not all(steady[-2:]):
        return None
    return Growth(usual, use[0], use[-1])
