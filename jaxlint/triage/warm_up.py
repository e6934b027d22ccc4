"""When what is compiled a number of times was warm-up: it came to an end, and the run went on without."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from jaxlint.triage.progress import WENT_ON, Moment

# Steps at which what is compiled a number of times each is still warm-up: training and evaluation.
_BURSTS = 2
# The end of more than those is so many steps without a compilation, and so many times the longest time between two.
_QUIET = 10
_GAPS = 4


def is_over(moments: Sequence[Moment], end: Moment) -> bool:
    """Whether all was compiled within one step, or two, or early on, and the run went on without.

    Objects of one class that jit a method each, and partials of one function, are compiled one after the other
    by their first step, and look like a function that is made anew; buckets are compiled as their first batch
    comes. Only what comes after can tell.
    """
    # What comes before the first step belongs to it.
    steps = [max(moment.reached, 1) for moment in moments]
    turns = [moment.turns for moment in moments]
    if _ends_early(steps, end.reached) or _ends_early(turns, end.turns):
        return True
    return _fell_silent(steps, end.reached) if end.reached else _fell_silent(turns, end.turns)


def _ends_early(counts: Sequence[int], end: int) -> bool:
    """Whether something happened at one or two counts only, and counting went on."""
    return bool(counts) and len(set(counts)) <= _BURSTS and end - counts[-1] >= WENT_ON


def _fell_silent(counts: Sequence[int], end: int) -> bool:
    """Whether nothing happened in the second half of what was counted, for longer than between any two before."""
    if not counts:
        return False
    quiet, longest = end - counts[-1], max((b - a for a, b in pairwise(counts)), default=0)
    return quiet >= max(_QUIET, counts[-1], _GAPS * longest)
