"""Where the program throws away what was compiled."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jaxlint.flow.boundaries.described import describe
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.facts import CachesCleared
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.retrace.mutation import Cleared
from jaxlint.flow.statements.loop_sources import MEMBER_METHODS, givers
from jaxlint.index.walking import walk
from jaxlint.record import replace

if TYPE_CHECKING:
    from jaxlint.flow.run import Run

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


@api_call("clear_caches")
def clear_caches(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`jax.clear_caches()`."""
    frame.log.append(Cleared())
    note_clearing(frame, call, dotted, None)
    return UNKNOWN_VALUE


def note_clearing(frame: Frame, call: Call, api: str, boundary: BoundaryState | None) -> None:
    """Leave the fact; a callable handed to `map` and the like has no place of its own."""
    if frame.quiet or not hasattr(call.node, "lineno"):
        return
    made = CachesCleared(
        frame.place(call.node),
        frame.symbol,
        frame.proof(),
        api=api,
        boundary=describe(boundary) if boundary is not None else None,
        loop=frame.innermost_loop(),
        sometimes=bool(frame.branches),
    )
    frame.log.append(PendingClearing(made, frame.run, _resumed(frame)))


def _resumed(frame: Frame) -> Function | None:
    """The function, if loops over what it gives run this code again in each of their rounds: it stands beside the
    `yield` of a generator, or gives the next member."""
    function = frame.function
    if function is None or frame.level:
        return None
    around: ast.AST = frame.loops[-1].node if frame.loops else function.node
    gives = isinstance(around, _LOOPS) and any(
        isinstance(n, (ast.Yield, ast.YieldFrom)) for n in walk(around)
    )
    if not gives and function.name not in MEMBER_METHODS:
        return None
    if frame.run.consumers is None:
        frame.run.consumers = []
    return function


def note_consumer(frame: Frame, source: ast.expr, body: Sequence[ast.AST]) -> None:
    """A loop goes through `source`: what gives its members may throw compiled code away."""
    if frame.run.consumers is None or frame.quiet or frame.level:
        return
    first, last = frame.place(body[0]), frame.place(body[-1])
    whole = first.span._replace(end_line=last.span.end_line, end_column=last.span.end_column)
    frame.run.consumers.append((frame, source, first._replace(span=whole)))


class PendingClearing(PendingFact):
    """Compiled code is thrown away; the fact waits to see which loops go through what the code gives."""

    __slots__ = ("_made", "_resumed", "_run")

    def __init__(self, made: CachesCleared, run: Run, resumed: Function | None) -> None:
        self._made = made
        self._run = run
        self._resumed = resumed

    def fact(self) -> CachesCleared:
        if self._resumed is None:
            return self._made
        noted = self._run.consumers or []
        bodies = [body for frame, source, body in noted if self._resumed in givers(frame, source)]
        return replace(self._made, consumers=tuple(dict.fromkeys(bodies)))
