"""Expressions of one part: constants, lambdas, `:=`, f-strings, `await`."""

from __future__ import annotations

import ast

from jaxlint.flow.domain import text
from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import CONSTANT, FUNCTION, UNKNOWN
from jaxlint.flow.domain.tags import EVEN, TEXT
from jaxlint.flow.domain.values import TEXT_VALUE, Origin, Value
from jaxlint.flow.frame import Frame, evaluate, expression
from jaxlint.flow.shapes.text_lengths import is_filled
from jaxlint.flow.statements.assignment import assign
from jaxlint.flow.trace import traced


@expression(ast.Constant)
def constant(frame: Frame, node: ast.Constant) -> Value:
    return Value(CONSTANT, 0, 0, node.value)


@expression(ast.Lambda)
def lambda_(frame: Frame, node: ast.Lambda) -> Value:
    function = frame.module.functions.get(node)
    if function is None:
        function = Function(node, "<lambda>", frame.module, None, frame.function)
        frame.module.functions[node] = function
    closure = Closure(function, frame.scope(), frame.evaluation, frame.loop, node)
    return Value(FUNCTION, data=closure)


@expression(ast.NamedExpr)
def named(frame: Frame, node: ast.NamedExpr) -> Value:
    value = evaluate(frame, node.value)
    assign(frame, node.target, value)
    return value


@expression(ast.JoinedStr)
def formatted(frame: Frame, node: ast.JoinedStr) -> Value:
    varies = 0
    even = EVEN
    parts: list[Value] = []
    for part in node.values:
        value = evaluate(frame, part.value if isinstance(part, ast.FormattedValue) else part)
        if isinstance(part, ast.FormattedValue):
            varies = max(varies, value.varies)
            if value.varies and not value.tags & EVEN and not is_filled(part.format_spec):
                even = 0
            if part.format_spec is not None:
                traced.demand(frame, part.value, value, "format")
        parts.append(value)
    known = text.put_together(frame, parts)
    if known is not None and (known.kind == UNKNOWN or not varies):
        return text.known(frame, known)
    return (
        Value(UNKNOWN, varies, TEXT | even, None, None, Origin(frame.module, node, "string"))
        if varies
        else TEXT_VALUE
    )


@expression(ast.Await, ast.Starred)
def inner(frame: Frame, node: ast.Await | ast.Starred) -> Value:
    return evaluate(frame, node.value)
