"""Arithmetic: binary and unary operators of numbers, arrays, texts and containers."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from jaxlint.flow.domain import text
from jaxlint.flow.domain.joining import join
from jaxlint.flow.domain.kinds import (
    CONCRETE,
    CONSTANT,
    DEVICE,
    HOST,
    NUMBERS,
    PARAMETER,
    SCALAR,
    SHAPE,
    TRACED,
    TRACERS,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.tags import (
    BOOLEAN_MASK,
    BOUNDED,
    CARRIED,
    COPIED,
    LOW,
    MOVED,
    RAGGED,
    SHAPED,
    SMALL,
    TEXT,
)
from jaxlint.flow.domain.values import (
    BOOL_VALUE,
    PER_ITERATION,
    TRACED_MASK,
    TRACED_VALUE,
    UNKNOWN_VALUE,
    Value,
    collection,
    is_number,
    like,
)
from jaxlint.flow.frame import Frame, evaluate, expression
from jaxlint.flow.precision import dtypes, weak_types
from jaxlint.flow.shapes.element_counts import together
from jaxlint.flow.shapes.made_sizes import repeated
from jaxlint.flow.shapes.size_movement import is_rounded
from jaxlint.flow.statements.iteration import element_of
from jaxlint.flow.trace import traced

_FOLD: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_FOLD_LIMIT = 1 << 40
_EXPONENT = 64
_MARKS = CARRIED | MOVED


@expression(ast.BinOp)
def binary(frame: Frame, node: ast.BinOp) -> Value:
    left = evaluate(frame, node.left)
    result = combine(frame, left, evaluate(frame, node.right), node.op, node)
    if result.varies and result.kind in (SCALAR, SHAPE) and is_rounded(node):
        return result.but(tags=result.tags | BOUNDED)
    return result


def combine(frame: Frame, a: Value, b: Value, op: ast.operator, node: ast.AST) -> Value:
    """`a op b`."""
    result = _combine(frame, a, b, op, node)
    if frame.weakly_typed:
        result = weak_types.operation(a, b, op, result)
    return dtypes.combined(a, b, result) if (a.tags | b.tags) & LOW else result


def _combine(frame: Frame, a: Value, b: Value, op: ast.operator, node: ast.AST) -> Value:
    ka, kb = a.kind, b.kind
    if ka == TRACED or kb == TRACED:
        if (a.size == 1 or is_number(a)) and (b.size == 1 or is_number(b)):
            return Value(TRACED, 0, a.tags & b.tags & BOOLEAN_MASK, None, None, None, 1)
        return TRACED_MASK if a.tags & b.tags & BOOLEAN_MASK else TRACED_VALUE
    if ka == PARAMETER or kb == PARAMETER:
        return _with_parameter(a, b, op)
    if ka in CONCRETE or kb in CONCRETE:
        return _product(a, b) if op.__class__ is ast.MatMult else _with_array(a, b)
    if ka in NUMBERS and kb in NUMBERS:
        return _numbers(frame, a, b, op, node)
    if (a.tags | b.tags) & TEXT and (ka == CONSTANT or kb == CONSTANT or a.tags & b.tags & TEXT):
        if op.__class__ is ast.Mod and kb in TRACERS:
            traced.demand(frame, node, b, "format")
        known = _text(frame, a, b, op)
        if known is not None and known.kind == UNKNOWN:
            return known
        varies = max(a.varies, b.varies)
        return Value(UNKNOWN, varies, TEXT | (a.tags | b.tags) & BOUNDED, None, None, a.origin or b.origin)
    if op.__class__ is ast.Mult and TREE in (ka, kb):
        return repeated(frame, a if ka == TREE else b, b if ka == TREE else a, node)
    if ka == SHAPE or kb == SHAPE:
        return _shapes(a, b)
    if ka == TREE and kb == TREE:
        return _concatenated(a, b)
    if ka == UNKNOWN or kb == UNKNOWN:
        varies = max(a.varies, b.varies)
        if (a.tags | b.tags) & RAGGED:
            return (a if a.tags & RAGGED else b).but(varies=varies)
        return Value(UNKNOWN, varies) if varies else UNKNOWN_VALUE
    return UNKNOWN_VALUE


def _text(frame: Frame, a: Value, b: Value, op: ast.operator) -> Value | None:
    """Two texts in one: `__name__ + ".LIMIT"`, `"%s.LIMIT" % __name__`."""
    if op.__class__ is ast.Add:
        return text.put_together(frame, [a, b])
    template = text.spelled(a)
    return text.filled_in(frame, template, "%s", [b]) if template is not None else None


def _with_parameter(a: Value, b: Value, op: ast.operator) -> Value:
    other = b if a.kind == PARAMETER else a
    if other.kind == UNKNOWN and op.__class__ in (ast.Add, ast.Mult, ast.BitOr):
        return UNKNOWN_VALUE  # list + list, list * n, dict | dict
    if other.kind == TREE or (other.kind == CONSTANT and isinstance(other.data, str)) or other.tags & TEXT:
        return UNKNOWN_VALUE
    return TRACED_MASK if a.tags & b.tags & BOOLEAN_MASK else TRACED_VALUE


def _product(a: Value, b: Value) -> Value:
    """`a @ b`: the first axis of the left operand stays, that of the right one is summed over."""
    kind = DEVICE if DEVICE in (a.kind, b.kind) else HOST
    return like(a, kind) if a.tags & SHAPED and not b.tags & SHAPED else Value(kind)


def _with_array(a: Value, b: Value) -> Value:
    tags = (a.tags | b.tags) & (SHAPED | COPIED) | (a.tags & b.tags & BOOLEAN_MASK)
    source = a if a.tags & SHAPED else b
    kind = DEVICE if DEVICE in (a.kind, b.kind) else HOST
    if is_number(a) or is_number(b):
        tags |= (a.tags | b.tags) & SMALL
    if not tags & SHAPED:
        return Value(kind, 0, tags, None, None, None, together(a, b))
    return Value(kind, source.varies, tags, None, None, source.origin, together(a, b))


def _numbers(frame: Frame, a: Value, b: Value, op: ast.operator, node: ast.AST) -> Value:
    if a.kind == b.kind == CONSTANT and not (a.tags | b.tags) & _MARKS:
        folded = _fold(a.data, b.data, op)
        if folded is not None:
            return folded
    for side in (a, b):
        if side.kind == CONSTANT and not isinstance(side.data, (int, float)):
            return UNKNOWN_VALUE
    varies = max(a.varies, b.varies)
    origin = a.origin if a.varies >= b.varies else b.origin
    moved = MOVED if (a.tags | b.tags) & _MARKS else 0
    if op.__class__ is ast.Mod and b.kind == CONSTANT:
        return Value(SCALAR, varies, BOUNDED, None, None, origin)
    if op.__class__ is ast.FloorDiv and b.kind == CONSTANT and isinstance(b.data, int) and b.data > 1:
        return Value(SCALAR, varies, BOUNDED | moved, None, None, origin)
    bounded = (
        BOUNDED
        if all(v.kind == CONSTANT or v.tags & BOUNDED or not v.varies for v in (a, b)) and varies
        else 0
    )
    return Value(SCALAR, varies, moved | bounded, None, None, origin)


def _fold(a: object, b: object, op: ast.operator) -> Value | None:
    fold = _FOLD.get(op.__class__)
    if isinstance(a, str) or isinstance(b, str):
        return Value(UNKNOWN, 0, TEXT)
    if fold is None or type(a) not in (int, float) or type(b) not in (int, float):
        return None
    if op.__class__ is ast.Pow and abs(b) > _EXPONENT:  # type: ignore[arg-type]  # a number
        return None
    try:
        result = fold(a, b)
    except ArithmeticError:
        return None
    number = type(result) in (int, float)  # a power may be complex
    return Value(CONSTANT, data=result) if number and abs(result) < _FOLD_LIMIT else None


def _shapes(a: Value, b: Value) -> Value:
    varies = max(a.varies, b.varies)
    origin = a.origin if a.varies >= b.varies else b.origin
    if varies >= PER_ITERATION:
        return Value(SCALAR, varies, (a.tags & b.tags) & BOUNDED, None, None, origin)
    return Value(SHAPE, varies, 0, None, None, origin)


def _concatenated(a: Value, b: Value) -> Value:
    if a.data.__class__ is list and b.data.__class__ is list and len(a.data) + len(b.data) <= 16:
        return Value(TREE, max(a.varies, b.varies), 0, [*a.data, *b.data], None, a.origin)
    return collection(join(element_of(a), element_of(b)), a.origin)


@expression(ast.UnaryOp)
def unary(frame: Frame, node: ast.UnaryOp) -> Value:
    value = evaluate(frame, node.operand)
    if node.op.__class__ is ast.Not:
        known = traced.truth(frame, node.operand, value, "not")
        return Value(CONSTANT, data=not known) if known is not None else BOOL_VALUE
    if value.kind == CONSTANT:
        if node.op.__class__ is ast.USub and isinstance(value.data, (int, float)):
            return Value(CONSTANT, data=-value.data)
        return value
    if value.kind == PARAMETER:
        result = TRACED_MASK if value.tags & BOOLEAN_MASK else TRACED_VALUE
        return weak_types.same(value, result) if frame.weakly_typed else result
    return value
