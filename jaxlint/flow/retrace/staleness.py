"""Stale reads: a boundary was called, then something its trace had read is changed, and it is called again.

The logs of a run are walked in program order, loops twice, from each place where order is known: a module's
top level, and each function by itself. A change before the first call is no fault, nor is one that no call
follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jaxlint.finding import Place
from jaxlint.flow.boundaries.boundary import PendingJit
from jaxlint.flow.boundaries.described import describe
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.evaluations import Called, Evaluation
from jaxlint.flow.facts import Proof, StaleRead
from jaxlint.flow.retrace.mutation import (
    Cleared,
    Invoked,
    LoopEnd,
    LoopStart,
    Made,
    Mutated,
    UnjittedEnd,
    UnjittedStart,
)
from jaxlint.flow.retrace.shared_containers import reads_changed

_EVENTS = 4000  # of one walk; beyond that order is not worth the time
_DEPTH = 8


# What an evaluation, or one that it calls, has in its log.
_CHANGES = 1
_CALLS = 2
_OTHERS = 4
_KINDS: dict[type, int] = {
    Mutated: _CHANGES,
    Invoked: _CALLS,
    Cleared: _OTHERS,
    Made: _OTHERS,
    PendingJit: _OTHERS,
}
_ORDERED = (*_KINDS, Called, LoopStart, LoopEnd, UnjittedStart, UnjittedEnd)


def events(evaluation: Evaluation, depth: int = 0, seen: tuple[Evaluation, ...] = ()) -> Iterator[Any]:
    """Calls, changes and clearings in program order; the body of a loop twice."""
    log = [item for item in evaluation.log if item.__class__ in _ORDERED]
    return _unrolled(log, 0, len(log), depth, (*seen, evaluation))


def may_be_stale(evaluation: Evaluation) -> bool:
    """Whether the events of an evaluation hold a change and a call: most do not, and need not be walked."""
    return _tells(evaluation) & (_CHANGES | _CALLS) == _CHANGES | _CALLS


def calls_boundary(evaluation: Evaluation) -> bool:
    """Whether a boundary is called outside any trace, in the evaluation or below."""
    return bool(_tells(evaluation) & _CALLS)


def _tells(evaluation: Evaluation) -> int:
    """The kinds of events that an evaluation can lead to. Its log must be complete."""
    if evaluation.tells is None:
        evaluation.tells = _CHANGES | _CALLS | _OTHERS  # whoever asks in the meantime cannot be sure
        tells = 0
        for item in evaluation.log:
            if item.__class__ is Called:
                if not item.evaluation.level:
                    tells |= _tells(item.evaluation)
            else:
                tells |= _KINDS.get(item.__class__, 0)
        evaluation.tells = tells
    return evaluation.tells


def _unrolled(
    log: list[Any], start: int, stop: int, depth: int, seen: tuple[Evaluation, ...]
) -> Iterator[Any]:
    position = start
    while position < stop:
        item = log[position]
        kind = item.__class__
        if kind in _KINDS:
            yield item
        elif kind is LoopStart:
            end = _matching_end(log, position, stop)
            for _ in range(2):
                yield from _unrolled(log, position + 1, end, depth, seen)
            position = end
        elif kind is UnjittedStart:
            end = _matching_end(log, position, stop, UnjittedStart, UnjittedEnd)
            yield from (i for i in log[position:end] if i.__class__ is Mutated)
            position = end
        elif kind is Called:
            called = item.evaluation
            if depth < _DEPTH and called not in seen and not called.level and _tells(called):
                yield from events(called, depth + 1, seen)
        position += 1


def _matching_end(
    log: list[Any], start: int, stop: int, opening: type = LoopStart, closing: type = LoopEnd
) -> int:
    depth = 0
    for position in range(start, stop):
        kind = log[position].__class__
        if kind is opening:
            depth += 1
        elif kind is closing:
            depth -= 1
            if not depth:
                return position
    return stop


def stale_reads(evaluation: Evaluation) -> list[StaleRead]:
    """The stale reads that the order of one evaluation proves."""
    if not may_be_stale(evaluation):
        return []
    called: dict[Any, Invoked] = {}  # by what shares a trace
    changed: dict[tuple[Any, Any], tuple[Mutated, Invoked]] = {}
    facts: list[StaleRead] = []
    for count, event in enumerate(events(evaluation)):
        if count > _EVENTS:
            break
        if isinstance(event, Cleared):
            _forget(
                called, changed, {trace_of(event.boundary)} if event.boundary is not None else set(called)
            )
        elif isinstance(event, PendingJit):
            if event.state.fresh:  # made anew: it will be traced anew
                same = {t for t, use in called.items() if use.boundary.node is event.state.node}
                _forget(called, changed, same)
        elif isinstance(event, Made):
            _forget(called, changed, {t for t, use in called.items() if _reads_instance(use, event.identity)})
        elif isinstance(event, Mutated):
            for trace, first in called.items():
                key = _read_by(first.boundary, event)
                if key is not None and not _inside(event, first.boundary):
                    changed.setdefault((trace, key), (event, first))
        elif isinstance(event, Invoked) and not (event.made and event.made[1]):
            trace = trace_of(event.boundary)
            called.setdefault(trace, event)
            for (changed_trace, key), (change, first) in list(changed.items()):
                if changed_trace is trace:
                    facts.append(_fact(evaluation, first.boundary, key, change, first, event))
                    del changed[changed_trace, key]
    return facts


def trace_of(boundary: BoundaryState) -> Any:
    """What shares a trace: every jit of one and the same function, or a boundary alone."""
    closure = boundary.closure
    if boundary.fresh or closure is None or closure.via or closure.transforms or closure.receiver is not None:
        return boundary
    return closure.function


def _forget(called: dict[Any, Invoked], changed: dict[tuple[Any, Any], Any], traces: set[Any]) -> None:
    for trace in traces:
        called.pop(trace, None)
    for key in [k for k in changed if k[0] in traces]:
        del changed[key]


def _reads_instance(use: Invoked, identity: object) -> bool:
    return any(key[0] == "self" and key[1] == id(identity) for key in use.boundary.reads)


def _read_by(boundary: BoundaryState, event: Mutated) -> Any:
    """The key of what a change alters of what a boundary reads: by its name, or as the same container."""
    if event.key in boundary.reads:
        return event.key
    held = event.held
    if held is None:
        return None
    return next((key for key, read in boundary.reads.items() if reads_changed(read, held)), None)


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
