"""Comparisons: what `==`, `<`, `is` and `in` give of tracers, arrays and other values."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import (
    API,
    BOUNDARY,
    CLASS,
    CONSTANT,
    DEVICE,
    FUNCTION,
    HOST,
    INSTANCE,
    MODULE,
    PARAMETER,
    SCALAR,
    SHAPE,
    TRACED,
    TREE,
)
from jaxlint.flow.domain.tags import BOOLEAN_MASK, NOTHING_OR, TEXT
from jaxlint.flow.domain.values import BOOL_VALUE, TRACED_MASK, UNKNOWN_VALUE, Value
from jaxlint.flow.frame import Frame, evaluate, expression
from jaxlint.flow.shapes.element_counts import together
from jaxlint.flow.syntax.bindings import resolved
from jaxlint.flow.trace import impure, traced
from jaxlint.index.written_names import last_name
from jaxlint.jax_api.transforms import EAGER


@expression(ast.Compare)
def comparison(frame: Frame, node: ast.Compare) -> Value:
    left = evaluate(frame, node.left)
    op = node.ops[0].__class__
    right = evaluate(frame, node.comparators[0])
    for other in node.comparators[1:]:
        evaluate(frame, other)
    if op is ast.Is or op is ast.IsNot:
        return _identity(left, right, op is ast.Is)
    if op is ast.In or op is ast.NotIn:
        return _membership(frame, node, left, right)
    for side in (left, right):
        if (side.kind == CONSTANT and not isinstance(side.data, (int, float, complex))) or side.tags & TEXT:
            return BOOL_VALUE
    kinds = {left.kind, right.kind}
    if len(node.ops) > 1 and TRACED in kinds:
        traced.demand(frame, node, TRACED_MASK, "chained comparison")
    if TRACED in kinds:
        return TRACED_MASK
    if PARAMETER in kinds:
        partner = right if left.kind == PARAMETER else left
        proven = partner.kind in (CONSTANT, SCALAR, SHAPE, HOST, PARAMETER)
        return TRACED_MASK if proven else UNKNOWN_VALUE
    if DEVICE in kinds or HOST in kinds:
        kind = DEVICE if DEVICE in kinds else HOST
        mask = 0 if frame.level == EAGER and _picks_one(frame, node, right) else BOOLEAN_MASK
        return Value(kind, tags=mask, size=together(left, right))
    return BOOL_VALUE


def _picks_one(frame: Frame, node: ast.Compare, other: Value) -> bool:
    """`np.arange(n) != k`: whichever `k` is, it selects as many. Under jit it is a mask like any other."""
    if not isinstance(node.ops[0], (ast.Eq, ast.NotEq)) or other.kind in (DEVICE, HOST):
        return False
    counted = resolved(frame, node.left)
    return isinstance(counted, ast.Call) and last_name(counted.func) == "arange"


def _identity(left: Value, right: Value, is_: bool) -> Value:
    if right.kind == CONSTANT and right.data is None:
        if left.kind == CONSTANT:
            return Value(CONSTANT, data=(left.data is None) == is_)
        if left.tags & NOTHING_OR:
            return BOOL_VALUE
        if left.kind in (TRACED, DEVICE, HOST, FUNCTION, BOUNDARY, CLASS, INSTANCE, MODULE, TREE, SHAPE):
            return Value(CONSTANT, data=not is_)
    return BOOL_VALUE


def _membership(frame: Frame, node: ast.Compare, left: Value, right: Value) -> Value:
    is_text = left.tags & TEXT or (left.kind == CONSTANT and isinstance(left.data, str))
    # With a text it asks for a key of a tree, such as a gradient's.
    compares = right.kind == TRACED and not is_text
    if compares or (left.kind == TRACED and right.kind == TREE and right.data.__class__ is not dict):
        traced.demand(frame, node, TRACED_MASK, "in")
    if right.kind == API and frame.level:
        impure.environment(frame, node, right, left)
    return BOOL_VALUE
