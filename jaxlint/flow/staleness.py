"""Stale reads: a boundary was called, then something its trace had read is changed, and it is called again.

The logs of a run are walked in program order, loops twice, from each place where order is known: a module's
top level, and each function by itself. A change before the first call is no fault, nor is one that no call
follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jaxlint.finding import Place
from jaxlint.flow.boundary import PendingJit, describe
from jaxlint.flow.facts import Proof, StaleRead
from jaxlint.flow.mutation import Cleared, Invoked, LoopEnd, LoopStart, Made, Mutated
from jaxlint.flow.objects import BoundaryState
from jaxlint.flow.run import Called, Evaluation

_EVENTS = 4000  # of one walk; beyond that order is not worth the time
_DEPTH = 8


def events(evaluation: Evaluation, depth: int = 0, seen: tuple[Evaluation, ...] = ()) -> Iterator[Any]:
    """Calls, changes and clearings in program order; the body of a loop twice."""
    yield from _unrolled(evaluation.log, 0, len(evaluation.log), depth, (*seen, evaluation))


def _unrolled(
    log: list[Any], start: int, stop: int, depth: int, seen: tuple[Evaluation, ...]
) -> Iterator[Any]:
    position = start
    while position < stop:
        item = log[position]
        if isinstance(item, LoopStart):
            end = _matching_end(log, position, stop)
            for _ in range(2):
                yield from _unrolled(log, position + 1, end, depth, seen)
            position = end + 1
            continue
        if isinstance(item, (Mutated, Invoked, Cleared, Made, PendingJit)):
            yield item
        elif (
            isinstance(item, Called)
            and depth < _DEPTH
            and item.evaluation not in seen
            and not item.evaluation.level
        ):
            yield from events(item.evaluation, depth + 1, seen)
        position += 1


def _matching_end(log: list[Any], start: int, stop: int) -> int:
    depth = 0
    for position in range(start, stop):
        if isinstance(log[position], LoopStart):
            depth += 1
        elif isinstance(log[position], LoopEnd):
            depth -= 1
            if not depth:
                return position
    return stop


def stale_reads(evaluation: Evaluation) -> list[StaleRead]:
    """The stale reads that the order of one evaluation proves."""
    if not _can_matter(evaluation):
        return []
    called: dict[BoundaryState, Invoked] = {}
    changed: dict[tuple[BoundaryState, Any], tuple[Mutated, Invoked]] = {}
    facts: list[StaleRead] = []
    for count, event in enumerate(events(evaluation)):
        if count > _EVENTS:
            break
        if isinstance(event, Cleared):
            _forget(called, changed, {event.boundary} if event.boundary is not None else set(called))
        elif isinstance(event, PendingJit):
            if event.state.fresh:  # made anew: it will be traced anew
                _forget(called, changed, {event.state})
        elif isinstance(event, Made):
            _forget(called, changed, {b for b in called if _reads_instance(b, event.identity)})
        elif isinstance(event, Mutated):
            for boundary, first in called.items():
                if event.key in boundary.reads and not _inside(event, boundary):
                    changed.setdefault((boundary, event.key), (event, first))
        elif isinstance(event, Invoked):
            called.setdefault(event.boundary, event)
            for (boundary, key), (change, first) in list(changed.items()):
                if boundary is event.boundary:
                    facts.append(_fact(evaluation, boundary, key, change, first, event))
                    del changed[boundary, key]
    return facts


def _forget(
    called: dict[BoundaryState, Invoked],
    changed: dict[tuple[BoundaryState, Any], tuple[Mutated, Invoked]],
    boundaries: set[BoundaryState],
) -> None:
    for boundary in boundaries:
        called.pop(boundary, None)
    for key in [k for k in changed if k[0] in boundaries]:
        del changed[key]


def _reads_instance(boundary: BoundaryState, identity: object) -> bool:
    return any(key[0] == "self" and key[1] == id(identity) for key in boundary.reads)


def _can_matter(evaluation: Evaluation) -> bool:
    return bool(evaluation.log)


def _inside(event: Mutated, boundary: BoundaryState) -> bool:
    """The change is the boundary's own definition."""
    return event.module is boundary.module and event.node is boundary.node


def _fact(
    evaluation: Evaluation, boundary: BoundaryState, key: Any, change: Mutated, first: Invoked, later: Invoked
) -> StaleRead:
    read = boundary.reads[key]
    place = change.module.place(change.node)
    later_place: Place | None = later.module.place(later.node)
    symbol = evaluation.function.qualname if evaluation.function is not None else ""
    return StaleRead(
        place,
        symbol,
        Proof("eager"),
        name=str(key[-1]),
        subject=read.subject,
        read=read.module.place(read.node),
        boundary=describe(boundary),
        earlier_call=first.module.place(first.node),
        later_call=later_place,
    )
