"""`if` and `match`: each branch is run from the same state, and what they leave is joined."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.joining import join_environments
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.frame import Frame, evaluate, execute, statement
from jaxlint.flow.host_memory.lookups import asks_for_absence, note_answered
from jaxlint.flow.precision.float_tests import without_floats
from jaxlint.flow.statements.guards import (
    SHAPE_BRANCH,
    TRACER_BRANCH,
    asks_for_tracer,
    asks_for_type,
    guard_of,
)
from jaxlint.flow.trace import traced
from jaxlint.index.walking import walk
from jaxlint.index.written_names import last_name


@statement(ast.If)
def if_(frame: Frame, node: ast.If) -> bool:
    if is_type_checking(node.test):
        return execute(frame, node.orelse)
    known = traced.truth(frame, node.test, evaluate(frame, node.test), "if")
    filling = asks_for_absence(node.test)
    if known is not None:
        guard = frame.guard
        frame.guard |= guard_of(frame, node.test, known) if asks_for_type(node.test) else 0
        frame.filling += known and filling
        ends = execute(frame, node.body if known else node.orelse)
        frame.filling -= known and filling
        frame.guard = guard
        return ends
    base = frame.names
    before = frame.guard
    branches = frame.branches
    frame.branches = (*branches, node)
    frame.names = dict(base)
    frame.guard = before | guard_of(frame, node.test, True)
    frame.names.update(without_floats(frame, node.test, True))
    if node.body and isinstance(node.body[-1], ast.Return):
        note_answered(frame, node.test)
    frame.filling += filling
    body_ends = execute(frame, node.body)
    frame.filling -= filling
    after_body = frame.names
    frame.names = base
    frame.guard = before | guard_of(frame, node.test, False)
    frame.names.update(without_floats(frame, node.test, False))
    else_ends = execute(frame, node.orelse)
    frame.guard = before
    if body_ends and asks_for_tracer(node.test):
        frame.guard |= TRACER_BRANCH  # who comes here holds no tracer
    elif body_ends and isinstance(node.test, ast.Compare) and asks_for_type(node.test):
        frame.guard |= SHAPE_BRANCH
    if not skips_rest(frame, node):
        frame.branches = branches
    if not body_ends and not else_ends:
        frame.names = join_environments(frame.names, after_body) or base
    elif not body_ends:
        frame.names = after_body
    return body_ends and else_ends


def skips_rest(frame: Frame, node: ast.If) -> bool:
    """One side goes on to the next round, or leaves the function: what follows runs only sometimes."""
    ways_out = ast.Continue if frame.loops else ast.Return
    return any(isinstance(side[-1], ways_out) for side in (node.body, node.orelse) if side)


def is_type_checking(test: ast.expr) -> bool:
    """`if TYPE_CHECKING:`: never runs."""
    return last_name(test) == "TYPE_CHECKING"


@statement(ast.Match)
def match(frame: Frame, node: ast.Match) -> bool:
    subject = evaluate(frame, node.subject)
    if any(isinstance(c.pattern, ast.MatchValue) for c in node.cases):
        traced.demand(frame, node.subject, subject, "match")
    base = frame.names
    before = frame.guard
    after: dict[str, Value] | None = None
    exhaustive = False
    for case in node.cases:
        frame.names = dict(base)
        if asks_for_type(node.subject) or any(isinstance(p, ast.MatchClass) for p in walk(case.pattern)):
            frame.guard |= SHAPE_BRANCH  # for what comes after it, too
        for pattern in walk(case.pattern):
            name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
            if isinstance(name, str):
                frame.names[name] = UNKNOWN_VALUE
        if case.guard is not None:
            evaluate(frame, case.guard)
        elif isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
            exhaustive = True
        branches = frame.branches
        frame.branches = (*branches, node)
        if execute(frame, case.body):
            before |= frame.guard  # who comes to the end is of another type
        else:
            after = join_environments(after, frame.names)
        frame.branches = branches
    frame.guard = before
    if not exhaustive:
        after = join_environments(after, dict(base))
    frame.names = after if after is not None else base
    return after is None
