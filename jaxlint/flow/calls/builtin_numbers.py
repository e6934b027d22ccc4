"""Python's own functions that give numbers, and `math`."""

from __future__ import annotations

import ast
import math as standard_math
from collections.abc import Callable

from jaxlint.flow.calls.ordering import ask_for_order, exact_members
from jaxlint.flow.domain.kinds import (
    ARRAYS,
    CONCRETE,
    CONSTANT,
    DEVICE,
    HOST,
    NUMBERS,
    SCALAR,
    SHAPE,
    TRACED,
    TRACERS,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.origin_words import LEN_OF_ANOTHER
from jaxlint.flow.domain.tags import BOUNDED, CARRIED, EVEN, MOVED, RAGGED, SHAPED, TEXT
from jaxlint.flow.domain.values import (
    BOOL_VALUE,
    CHUNK,
    PER_CALL,
    PER_ITERATION,
    SHAPE_VALUE,
    TRACED_VALUE,
    UNKNOWN_VALUE,
    Origin,
    Value,
    collection,
)
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.shapes.lengths import changing
from jaxlint.flow.shapes.size_movement import movement
from jaxlint.flow.statements.iteration import as_keys, element_of
from jaxlint.flow.syntax.bindings import look
from jaxlint.flow.trace import traced
from jaxlint.index.written_names import dotted_name

_MARKS = CARRIED | MOVED
_ORDERING = frozenset({"min", "max", "sorted"})
_CONVERSIONS: dict[str, Callable[[float], object]] = {"int": int, "float": float, "complex": complex}
_CONVERTIBLE = 1 << 40  # beyond that, and not a number: of no interest


def number(frame: Frame, last: str, first: Value, call: Call) -> Value:
    node = call.argument_node(0) or call.node
    traced.demand(frame, call.node, first, f"{last}()")
    if last == "bool":
        return BOOL_VALUE
    if first.kind in CONCRETE:
        origin = Origin(frame.module, node, f"{last} of array")
        return Value(SCALAR, PER_ITERATION if frame.loop else PER_CALL, 0, None, None, origin)
    if first.kind == CONSTANT and isinstance(first.data, (int, float)):
        converted = _CONVERSIONS[last](first.data) if abs(first.data) < _CONVERTIBLE else None
        if first.tags or converted is None:
            return Value(SCALAR, first.varies, first.tags & _MARKS)
        return Value(CONSTANT, data=converted)
    if first.kind in (SCALAR, SHAPE):
        return Value(SCALAR, first.varies, first.tags & (_MARKS | BOUNDED), None, None, first.origin)
    if first.kind in TRACERS:
        return UNKNOWN_VALUE
    if first.kind == UNKNOWN and first.varies >= PER_ITERATION:
        return Value(
            SCALAR, first.varies, 0, None, None, first.origin or Origin(frame.module, node, f"{last}()")
        )
    return Value(SCALAR, first.varies, first.tags & BOUNDED, None, None, first.origin)


def asks(frame: Frame, last: str, first: Value, call: Call) -> Value:
    if last in _ORDERING:
        ask_for_order(frame, last, call.positional, call)
    if len(call.positional) > 1 and last in ("min", "max"):
        if any(value.kind == TRACED for value in call.positional):
            return TRACED_VALUE
        folded = _folded(min if last == "min" else max, call.positional)
        if folded is not None:
            return folded
        if all(v.kind in NUMBERS or v.kind == SHAPE for v in call.positional):
            varies = max(v.varies for v in call.positional)
            moved = MOVED if any(v.tags & _MARKS for v in call.positional) else 0
            origin = next((v.origin for v in call.positional if v.varies == varies and v.origin), None)
            if last == "min" and _is_chunk(origin, call.node):
                return Value(SCALAR, 0, BOUNDED, None, None, Origin(frame.module, call.node, CHUNK))
            return Value(SCALAR, varies, moved, None, None, origin)
        return UNKNOWN_VALUE
    if last in ("any", "all"):
        tested = (v for v in exact_members(first, call.argument_node(0)) if v.kind == TRACED)
        traced.demand(frame, call.node, next(tested, UNKNOWN_VALUE), f"{last}()")
        return BOOL_VALUE
    if last == "sorted":
        return collection(element_of(as_keys(first)), Origin(frame.module, call.node, "list"))
    measured = _measured(call.argument_node(0))
    if measured is not None and not frame.level:  # `max(len(s) for s in batch)`: new for another batch
        of = look(frame, measured)
        varies = of.varies if of.varies >= PER_ITERATION else 0
        return Value(SCALAR, varies, 0, None, None, Origin(frame.module, call.node, "longest"))
    element = element_of(first)
    return element if element.kind in NUMBERS else UNKNOWN_VALUE


def _measured(node: ast.AST | None) -> ast.expr | None:
    """What is looked through for its longest member."""
    if isinstance(node, ast.Call) and dotted_name(node.func) == "map" and len(node.args) == 2:
        return node.args[1] if dotted_name(node.args[0]) == "len" else None
    if not isinstance(node, (ast.GeneratorExp, ast.ListComp)) or len(node.generators) != 1:
        return None
    member = node.elt
    if isinstance(member, ast.Subscript):
        member = member.value  # s.shape[0]
    is_length = isinstance(member, ast.Call) and dotted_name(member.func) == "len"
    is_shape = isinstance(member, ast.Attribute) and member.attr in ("shape", "size")
    return node.generators[0].iter if is_length or is_shape else None


def _is_chunk(counter: Origin | None, node: ast.AST) -> bool:
    """`min(size, n - start)` for `start` in steps of `size`: all are `size`, but perhaps the last."""
    steps = counter.node if counter is not None else None
    if not isinstance(node, ast.Call) or not isinstance(steps, ast.Call) or len(steps.args) != 3:
        return False
    return ast.dump(steps.args[2]) in [ast.dump(argument) for argument in node.args]


def _len(frame: Frame, first: Value, call: Call) -> Value:
    if first.kind == CONSTANT and isinstance(first.data, (str, bytes, tuple)):
        return Value(CONSTANT, data=len(first.data))
    if (
        first.kind == TREE
        and first.data is not None
        and first.data.__class__ in (list, dict)
        and not frame.loop
    ):
        return Value(CONSTANT, data=len(first.data))
    varies = first.varies
    origin = Origin(frame.module, call.node, "len")
    subject = call.argument_node(0)
    name = dotted_name(subject) if subject is not None else None
    if name is not None and name.endswith("shape"):
        return SHAPE_VALUE  # the number of axes: few values
    if first.tags & EVEN:
        return SHAPE_VALUE
    listed = changing(frame, subject, first) if subject is not None and frame.loops else None
    if listed is not None:
        return Value(SHAPE, PER_ITERATION, 0, None, None, origin)
    if first.kind in CONCRETE and first.tags & SHAPED:
        return Value(SHAPE, first.varies, 0, None, None, origin)
    if first.kind in ARRAYS and first.kind in TRACERS:
        return SHAPE_VALUE
    if varies >= PER_ITERATION and first.kind not in CONCRETE:
        if not first.tags & (SHAPED | TEXT):
            origin = origin._replace(word=LEN_OF_ANOTHER)
        return Value(SHAPE, varies, 0, None, None, origin)
    if first.kind == UNKNOWN and varies == PER_CALL and first.origin is None:
        return Value(SHAPE, PER_CALL)  # of a parameter that no caller in view hands another length
    return Value(SHAPE, min(varies, PER_CALL), 0, None, None, origin)


def _range(frame: Frame, first: Value, call: Call) -> Value:
    for position, value in enumerate(call.positional):
        traced.demand(frame, call.argument_node(position) or call.node, value, "range()")
    bounded = _few(call)
    element = Value(
        SCALAR,
        PER_ITERATION,
        BOUNDED if bounded else 0,
        None,
        None,
        Origin(frame.module, call.node, "loop index"),
    )
    numbers = collection(element, Origin(frame.module, call.node, "range", tuple(call.positional)))
    ends = call.positional[1:2] or call.positional[:1]
    moving = movement(frame, None, ends[0]) if ends and not frame.level else None
    if moving is not None:
        numbers.tags |= RAGGED
        numbers.varies = moving.varies
    return numbers


def _few(call: Call) -> bool:
    """A range over at most two values."""
    return (
        len(call.positional) == 1
        and call.positional[0].kind == CONSTANT
        and call.positional[0].data in (0, 1, 2)
    )


def _folded(function: object, values: list[Value]) -> Value | None:
    """What a pure function gives for numbers in view that no loop carries."""
    if not callable(function) or any(
        v.kind != CONSTANT or v.tags & _MARKS or type(v.data) not in (int, float) for v in values
    ):
        return None
    if any(abs(v.data) >= _CONVERTIBLE for v in values):
        return None
    try:
        result = function(*[v.data for v in values])
    except (ArithmeticError, TypeError, ValueError):
        return None
    return Value(CONSTANT, data=result) if type(result) in (int, float) else None


def _round(frame: Frame, first: Value, call: Call) -> Value:
    return _folded(round, call.positional) or _arithmetic(frame, first, call)


def _arithmetic(frame: Frame, first: Value, call: Call) -> Value:
    if first.kind in ARRAYS or first.kind == SCALAR:
        return first
    return SHAPE_VALUE if first.kind == SHAPE else UNKNOWN_VALUE


def _sum(frame: Frame, first: Value, call: Call) -> Value:
    if first.kind in ARRAYS:
        return Value(first.kind)
    element = element_of(first)
    one = 1 if element.size == 1 else None  # a sum of numbers is one
    return Value(element.kind, size=one) if element.kind in (TRACED, DEVICE, HOST) else UNKNOWN_VALUE


@api_call("math")
def math(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    for value in call.positional:
        if value.kind == TRACED:
            traced.demand(frame, call.node, value, dotted)
            return UNKNOWN_VALUE
    if not call.positional:
        return UNKNOWN_VALUE
    first = call.positional[0]
    folded = (
        _folded(getattr(standard_math, last, None), call.positional) if dotted == f"math.{last}" else None
    )
    if folded is not None:
        return folded
    if last in ("log2", "log", "log10"):
        # A power of the rounded-up logarithm is a bucket.
        return Value(SCALAR, first.varies, BOUNDED | first.tags & _MARKS, None, None, first.origin)
    if all(v.kind in NUMBERS or v.kind == SHAPE for v in call.positional):
        varies = max(v.varies for v in call.positional)
        tags = first.tags & BOUNDED | (MOVED if any(v.tags & _MARKS for v in call.positional) else 0)
        return Value(SCALAR, varies, tags, None, None, first.origin)
    if all(v.kind == UNKNOWN or v.kind in NUMBERS for v in call.positional) and not frame.level:
        source = max(call.positional, key=lambda v: v.varies)
        return Value(SCALAR, source.varies, 0, None, None, source.origin) if source.varies else UNKNOWN_VALUE
    return UNKNOWN_VALUE


NUMBER_HANDLERS = {
    "len": _len,
    "range": _range,
    "abs": _arithmetic,
    "round": _round,
    "pow": _arithmetic,
    "sum": _sum,
}
