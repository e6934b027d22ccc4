"""Conditions in expressions: `and`, `or` and `a if test else b`, with what a test guards."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.joining import join, join_environments
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.frame import Frame, evaluate, expression
from jaxlint.flow.precision.float_tests import without_floats
from jaxlint.flow.retrace.optional import either
from jaxlint.flow.statements.guards import guard_of
from jaxlint.flow.trace import traced


@expression(ast.BoolOp)
def boolean(frame: Frame, node: ast.BoolOp) -> Value:
    result: Value | None = None
    is_and = node.op.__class__ is ast.And
    last = len(node.values) - 1
    guards = 0
    for position, item in enumerate(node.values):
        value = evaluate(frame, item)
        if position < last:
            known = traced.truth(frame, item, value, "and/or")
            if known is not None and known is not is_and:
                frame.guard &= ~guards
                frame.last_operand = None
                return value
            if known is not None:
                continue  # `None or default`: it is not this one
            guard = guard_of(frame, item, is_and)
            if guard and not frame.guard & guard:
                frame.guard |= guard
                guards |= guard
        elif item.__class__ is not ast.BoolOp:
            frame.last_operand = value, frame.guard
        result = value if result is None else join(result, value)
    frame.guard &= ~guards
    return result or UNKNOWN_VALUE


@expression(ast.IfExp)
def conditional(frame: Frame, node: ast.IfExp) -> Value:
    known = traced.truth(frame, node.test, evaluate(frame, node.test), "if")
    if known is not None:
        return evaluate(frame, node.body if known else node.orelse)
    # The arms are alternatives: what one does to the environment the other does not see.
    base = frame.names
    frame.names = dict(base)
    frame.names.update(without_floats(frame, node.test, True))
    body = _guarded(frame, node.body, guard_of(frame, node.test, True))
    after_body, frame.names = frame.names, base
    no_floats = without_floats(frame, node.test, False)
    frame.names = {**base, **no_floats} if no_floats else base
    orelse = _guarded(frame, node.orelse, guard_of(frame, node.test, False))
    frame.names = join_environments(frame.names, after_body) or base
    return either(frame, node, body, orelse, join(body, orelse))


def _guarded(frame: Frame, node: ast.expr, guard: int) -> Value:
    before = frame.guard
    frame.guard |= guard
    value = evaluate(frame, node)
    frame.guard = before
    return value
