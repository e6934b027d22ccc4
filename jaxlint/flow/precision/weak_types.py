"""Weak types: which traced values have a dtype of their own, and which take that of what they meet.

Followed only where it can matter: in what a boundary traces when it is handed a Python number or a weak array
(`frame.weakly_typed`). A value is strong, weak, or neither is known; `INTEGER` tells ints from floats, and
booleans are masks. The rules are measured on jax 0.10.2, 0.6.2 and 0.4.35.
"""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import API, ARRAYS, CONSTANT, DEVICE, HOST, INSTANCE, SCALAR, TRACERS, TREE
from jaxlint.flow.domain.tags import BOOLEAN_MASK, INTEGER, STRONG, TYPES, WEAK_TYPED
from jaxlint.flow.domain.values import Origin, Value, is_number, parts
from jaxlint.flow.frame import Call, Frame
from jaxlint.jax_api.arrays import DTYPES, OWN_SHAPE, REDUCTIONS, STRONG_MAKERS

_INDICES = frozenset(
    {"argmax", "argmin", "argsort", "count_nonzero", "searchsorted", "randint", "categorical"}
)
_ACCUMULATING = frozenset(
    {"cumsum", "cumprod", "logsumexp", "softmax", "log_softmax", "one_hot", "solve", "norm"}
)
_BOOLEAN = frozenset({"any", "all"})
# Positions of the operands where they are not all arguments.
_OPERANDS: dict[str, tuple[int, ...]] = {
    "where": (1, 2),
    "full": (1,),
    **dict.fromkeys(("full_like", "zeros_like", "ones_like", "empty_like"), (0,)),
}


def is_weak(value: Value) -> bool:
    """A Python number, or an array that has no dtype of its own."""
    if value.kind == CONSTANT or value.kind == SCALAR:
        return is_number(value) and not isinstance(value.data, bool)
    return bool(value.tags & WEAK_TYPED)


def holds_weak(value: Value, depth: int = 0) -> bool:
    """Whether a weak value is among the leaves."""
    if value.kind == TREE or value.kind == INSTANCE:
        return depth < 3 and any(holds_weak(part, depth + 1) for part in parts(value))
    return is_weak(value)


def typed(value: Value, traced: Value, depth: int = 0) -> Value:
    """An argument inside the trace, with what is known of its type outside."""
    if traced.kind in TRACERS:
        return _with(traced, _outside(value))
    if depth < 3 and traced.kind == value.kind == TREE and value.data.__class__ is traced.data.__class__:
        if value.data.__class__ is list:
            members = [typed(v, t, depth + 1) for v, t in zip(value.data, traced.data, strict=True)]
            return Value(TREE, traced.varies, traced.tags, members, None, traced.origin)
        if value.data.__class__ is dict:
            known = {k: typed(v, traced.data[k], depth + 1) for k, v in value.data.items()}
            return Value(TREE, traced.varies, traced.tags, known, None, traced.origin)
        if value.element is not None and traced.element is not None:
            element = typed(value.element, traced.element, depth + 1)
            return Value(TREE, traced.varies, traced.tags, None, element, traced.origin)
    if depth < 3 and traced.kind == value.kind == INSTANCE:
        fields = traced.data.fields
        for name, field in value.data.fields.items():
            if name in fields:
                fields[name] = typed(field, fields[name], depth + 1)
    return traced


def _outside(value: Value) -> int:
    """The type of an argument, as bits."""
    if is_weak(value):
        return WEAK_TYPED | _integer(value)
    if value.tags & TYPES:
        return value.tags & TYPES
    if value.tags & BOOLEAN_MASK:
        return 0
    if value.kind == HOST or (value.kind == DEVICE and value.size != 1):
        return STRONG  # weak ones come from single numbers
    return 0


def _integer(value: Value) -> int:
    whole = type(value.data) is int if value.kind == CONSTANT else bool(value.tags & INTEGER)
    return INTEGER if whole else 0


def _with(value: Value, bits: int) -> Value:
    return value.but(tags=value.tags & ~TYPES | bits) if (value.tags & TYPES) != bits else value


def promoted(values: list[Value]) -> int:
    """The type of what an operation makes of operands."""
    strong = weak = unknown = 0
    for value in values:
        if value.tags & STRONG:
            strong |= 1 if value.tags & INTEGER else 2
        elif is_weak(value):
            weak |= 1 if _integer(value) else 2
        elif value.kind == HOST and not value.tags & BOOLEAN_MASK:
            strong |= 2
        elif not (value.tags & BOOLEAN_MASK or (value.kind == CONSTANT and isinstance(value.data, bool))):
            unknown = 1
    if strong & 2:
        return STRONG
    if unknown:
        return 0
    if weak & 2:
        return WEAK_TYPED  # a Python float beside strong integers gives a weak float
    if strong:
        return STRONG | INTEGER
    return WEAK_TYPED | INTEGER if weak else 0


def same(value: Value, result: Value) -> Value:
    """Another form of a value, of the same type."""
    return _with(result, value.tags & TYPES) if result.kind in TRACERS else result


def operation(a: Value, b: Value, op: ast.operator, result: Value) -> Value:
    """The result of arithmetic on tracers."""
    if result.kind not in TRACERS:
        return result
    if op.__class__ is ast.MatMult:
        return _with(result, STRONG)
    bits = promoted([a, b])
    if op.__class__ is ast.Div:
        bits &= ~INTEGER
    return _with(result, bits)


def call_result(dotted: str, last: str, call: Call, result: Value) -> Value:
    """The result of a jnp, lax, nn or random function in traced code."""
    if result.kind not in TRACERS:
        return result
    return _with(result, _call_bits(dotted, last, call))


def eager_result(dotted: str, last: str, call: Call, result: Value) -> Value:
    """Outside a trace only a single number need be told: it may have been made of a Python one."""
    if result.kind != DEVICE or result.size != 1 or result.tags & TYPES:
        return result
    bits = _call_bits(dotted, last, call)
    return _with(result, bits) if bits & STRONG else result


def _call_bits(dotted: str, last: str, call: Call) -> int:
    if last in DTYPES:  # `jnp.float32(x)`
        return STRONG | _integer_dtype(last)
    asked = _asked(call)
    if asked is not None:
        return STRONG | asked
    if last in _BOOLEAN:
        return 0
    first = call.positional[0] if call.positional else None
    if last in _INDICES:
        return STRONG | INTEGER
    if last in REDUCTIONS or last in _ACCUMULATING:
        return STRONG | _reduced(last, first)
    if dotted.startswith("jax.random.") or last in OWN_SHAPE or last in STRONG_MAKERS:
        return STRONG
    if last in ("array", "stack", "concatenate") and first is not None and first.kind == TREE:
        return promoted(parts(first)) if last != "array" else STRONG
    positions = _OPERANDS.get(last)
    operands = (
        [call.positional[p] for p in positions if p < len(call.positional)] if positions else call.positional
    )
    return promoted([v for v in operands if v.kind in (*ARRAYS, CONSTANT, SCALAR)] or operands)


def _reduced(last: str, first: Value | None) -> int:
    """Sums of integers and of masks are integers, means are not."""
    whole = last in ("sum", "prod", "cumsum", "cumprod", "max", "min", "amax", "amin")
    return INTEGER if whole and first is not None and first.tags & (INTEGER | BOOLEAN_MASK) else 0


def _asked(call: Call) -> int | None:
    """Of a dtype that the call names: whether it is an integer one; None where it names none."""
    for value in (*call.keywords.values(), *call.positional):
        name = _dtype(value)
        if name:
            return _integer_dtype(name)
    return 0 if "dtype" in call.keywords else None


def _dtype(value: Value) -> str:
    """The last name of a dtype, "" for anything else."""
    if value.kind == API:
        name = str(value.data).rpartition(".")[2]
        return name if name in DTYPES or value.data in ("builtins.int", "builtins.float") else ""
    return value.data if value.kind == CONSTANT and value.data in DTYPES else ""


def _integer_dtype(name: str) -> int:
    return INTEGER if name.startswith(("int", "uint")) else 0


def method_result(receiver: Value, name: str, call: Call, result: Value) -> Value:
    """The result of a tracer's method."""
    if result.kind not in TRACERS:
        return result
    if name == "astype":
        return _with(result, STRONG | (_asked(call) or 0))
    if name in REDUCTIONS or name in _ACCUMULATING or name in _INDICES:
        return _with(result, _call_bits("", name, Call(call.node, [receiver], {})))
    return _with(result, receiver.tags & TYPES)


def made_weak(frame: Frame, last: str, call: Call, result: Value) -> Value:
    """`jnp.asarray(0.0)`, `jnp.full(n, 0.0)` outside a trace: weak, unless a dtype is named."""
    filling = call.argument(1 if last == "full" else 0, "fill_value", "a", "object")
    if filling is None or not is_weak(filling) or _asked(call) is not None or len(call.positional) > 2:
        return result
    if last != "full" and len(call.positional) > 1:
        return result  # the second argument is a dtype
    weak = _with(result, WEAK_TYPED | _integer(filling))
    return weak if weak.origin is not None else weak.but(origin=Origin(frame.module, call.node, "weak"))
