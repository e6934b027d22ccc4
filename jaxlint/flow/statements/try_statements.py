"""`try`: the handlers, and what may be concrete because its body got to the end."""

from __future__ import annotations

import ast
import sys

from jaxlint.flow.domain.joining import join_environments
from jaxlint.flow.domain.kinds import TRACERS
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.frame import Frame, execute, statement
from jaxlint.flow.host_memory.lookups import note_found
from jaxlint.flow.statements.guards import TRY, takes_tracer_errors

_TRIES: list[type[ast.stmt]] = [ast.Try]
if sys.version_info >= (3, 11):
    _TRIES.append(ast.TryStar)


@statement(*_TRIES)
def try_(frame: Frame, node: ast.Try) -> bool:
    base = dict(frame.names)
    before = frame.guard
    if takes_tracer_errors(node.handlers):
        frame.guard |= TRY
    ends = execute(frame, node.body)
    frame.guard = before
    if not ends and node.orelse:
        ends = execute(frame, node.orelse)
    if frame.level and takes_tracer_errors(node.handlers):
        _doubt(frame, base)
    at_end = frame.names
    after: dict[str, Value] | None = None if ends else frame.names
    for handler in node.handlers:
        frame.names = dict(base)
        if handler.name:
            frame.names[handler.name] = UNKNOWN_VALUE
        missed = handler.type is not None and any(
            error in ast.dump(handler.type) for error in ("'KeyError'", "'AttributeError'")
        )
        frame.filling += missed
        branches = frame.branches
        frame.branches = (*branches, handler)
        if not execute(frame, handler.body):
            after = join_environments(after, frame.names)
        frame.branches = branches
        frame.filling -= missed
        if missed and node.body and isinstance(node.body[-1], ast.Return):
            note_found(frame, node.body[-1].value)
    if frame.level and takes_tracer_errors(node.handlers) and after is at_end and not ends:
        frame.guard |= TRY  # every handler leaves: whoever comes here holds concrete values
    if not node.finalbody:
        frame.names = after if after is not None else base
        return after is None
    # `finally` also runs when the body returns: what it had done by then holds.
    frame.names = join_environments(dict(after) if after is not None else None, dict(at_end)) or base
    finally_ends = execute(frame, node.finalbody)
    return after is None or finally_ends


def _doubt(frame: Frame, before: dict[str, Value]) -> None:
    """After a try that takes tracer errors, what its body bound from a tracer may not be one: it got here."""
    for name, value in frame.names.items():
        if value is not before.get(name) and value.kind in TRACERS:
            frame.names[name] = UNKNOWN_VALUE
