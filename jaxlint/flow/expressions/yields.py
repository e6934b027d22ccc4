"""`yield` and `yield from`: the members of what a generator gives."""

from __future__ import annotations

import ast

from jaxlint.flow.boundaries.escaping import escape_all
from jaxlint.flow.domain.joining import join
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.frame import Frame, evaluate, expression
from jaxlint.flow.statements.iteration import element_of


@expression(ast.Yield)
def yield_(frame: Frame, node: ast.Yield) -> Value:
    if node.value is not None:
        value = evaluate(frame, node.value)
        escape_all([value])
        _yield(frame, value, [value])
    return UNKNOWN_VALUE


@expression(ast.YieldFrom)
def yield_from(frame: Frame, node: ast.YieldFrom) -> Value:
    source = evaluate(frame, node.value)
    _yield(frame, element_of(source), source.data if source.data.__class__ is list else None)
    return UNKNOWN_VALUE


def _yield(frame: Frame, value: Value, members: list[Value] | None) -> None:
    """What straight-line code yields is a sequence whose members are all known."""
    frame.yielded = value if frame.yielded is None else join(frame.yielded, value)
    if members is None or frame.loop or frame.branches:
        frame.yields = None
    elif frame.yields is not None:
        frame.yields += members
