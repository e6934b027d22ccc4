"""Precision: which dtype a call asks for, which values are of low precision, and what solves with them."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import (
    API,
    ARRAYS,
    CONSTANT,
    DEVICE,
    FOREIGN,
    INSTANCE,
    SHAPE,
    TRACERS,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.operand import operand
from jaxlint.flow.domain.tags import BOOLEAN_MASK, LOW
from jaxlint.flow.domain.values import Origin, Value, is_number, parts
from jaxlint.flow.facts import LowPrecisionSolve, WideRequest
from jaxlint.flow.frame import Call, Frame
from jaxlint.jax_api.arrays import ARRAY_METHODS, INDEXER_METHODS
from jaxlint.jax_api.precision import (
    CASTS,
    NARROWED,
    NOT_FLOAT,
    SECOND_ORDER,
    TAKES_SOLVER,
    dtype_named,
    solver,
)
from jaxlint.jax_api.precision import LOW as LOW_DTYPES

_KEYWORDS = ("dtype", "param_dtype", "new_dtype", "preferred_element_type")
# Categories of library calls whose results have a dtype.
TYPED = frozenset({"jnp", "lax", "dtype", "constructor"})
_MAY_BE_LOW = ARRAYS | {UNKNOWN}
_NESTED = 3  # containers in containers are looked into so far


def dtype_of(value: Value) -> str:
    """The name of the dtype that a value is, "" when it is none or not known."""
    if value.kind == API or (value.kind == CONSTANT and isinstance(value.data, str)):
        return dtype_named(value.data)
    if value.kind == SHAPE and value.tags & LOW and value.origin is not None:
        return str(value.origin.extra)  # `x.dtype`
    return ""


def typed(frame: Frame, dotted: str, last: str, call: Call, result: Value) -> Value:
    """The result of a jnp, lax or dtype call, with what is known of its precision."""
    asked, node = _asked(dotted, last, call)
    if asked:
        if asked in NARROWED:
            _note_wide(frame, node, dotted, asked)
        return _as_asked(frame, call.node, result, asked)
    if any(is_low(value) for value in call.values()):
        note_solver(frame, dotted, call)
        return _kept(last, call.values(), result)
    return result


def _asked(dotted: str, last: str, call: Call) -> tuple[str, ast.AST]:
    """The dtype that a call asks for, and where it says so."""
    own = dtype_named(dotted)
    if own:  # `jnp.float64(x)`
        return own, call.node
    for word in _KEYWORDS:
        value = call.keywords.get(word)
        if value is not None:
            return dtype_of(value) or "?", call.argument_node(99, word) or call.node
    for position, value in enumerate(call.positional):
        if value.kind == API or (position == 1 and value.kind == CONSTANT and last in CASTS):
            asked = dtype_of(value)
            if asked:
                return asked, call.argument_node(position) or call.node
    return "", call.node


def method(frame: Frame, receiver: Value, name: str, call: Call, result: Value) -> Value:
    """The result of a method, with what is known of its precision."""
    if name != "astype":
        if name in INDEXER_METHODS and receiver.tags & LOW and result.kind in _MAY_BE_LOW:
            return result.but(tags=result.tags | LOW, origin=receiver.origin)  # `x.at[i].add(y)`
        if receiver.kind == UNKNOWN and name not in ARRAY_METHODS:
            return result
        return _kept(name, [receiver, *call.values()], result)
    given = call.argument(0, "dtype")
    asked = dtype_of(given) if given is not None else ""
    if asked in NARROWED and (receiver.kind in TRACERS or receiver.kind == DEVICE):
        _note_wide(frame, call.argument_node(0, "dtype") or call.node, ".astype", asked)
    return _as_asked(frame, call.node, result, asked)


def _note_wide(frame: Frame, node: ast.AST, api: str, asked: str) -> None:
    if frame.quiet or not hasattr(node, "lineno") or frame.run.program.table.names_x64:
        return
    frame.record(WideRequest(frame.place(node), frame.symbol, frame.proof(), api=api, dtype=asked))


# ---------------------------------------------------------------- low precision


def _as_asked(frame: Frame, node: ast.AST, result: Value, asked: str) -> Value:
    """A result of the dtype that was asked for, "" or "?" where that is not known."""
    if asked in LOW_DTYPES:
        return lowered(frame, node, result, asked)
    return result.but(tags=result.tags & ~LOW) if result.tags & LOW else result


def lowered(frame: Frame, node: ast.AST, value: Value, dtype: str) -> Value:
    """A value that is made of low precision here: a tree with all its leaves."""
    return _all_low(value, Origin(frame.module, node, "low precision", dtype))


def _all_low(value: Value, origin: Origin, depth: int = 0) -> Value:
    if value.kind == INSTANCE and value.data.cls.is_pytree_value and depth < _NESTED:
        thing = value.data.described()
        thing.fields = {name: _all_low(field, origin, depth + 1) for name, field in thing.fields.items()}
        return Value(INSTANCE, value.varies, value.tags, thing)
    if value.kind not in ARRAYS and value.kind not in (UNKNOWN, TREE):
        return value
    tags, data, element = value.tags | LOW, value.data, value.element
    if value.kind == TREE and depth < _NESTED:
        element = _all_low(element, origin, depth + 1) if element is not None else None
        if data.__class__ is list:
            data = [_all_low(member, origin, depth + 1) for member in data]
        elif data.__class__ is dict:
            data = {key: _all_low(member, origin, depth + 1) for key, member in data.items()}
    return Value(value.kind, value.varies, tags, data, element, origin, value.size)


def is_low(value: Value) -> bool:
    """All floats of it are of low precision."""
    if value.tags & LOW:
        return True
    if value.kind not in (TREE, INSTANCE):
        return False
    members = [member for member in parts(value) if not is_number(member)]
    return bool(members) and all(member.tags & LOW for member in members)


def low_like(source: Value, value: Value) -> Value:
    """A value that has the low precision of another."""
    return value.but(tags=value.tags | LOW, origin=_source(source))


def _source(value: Value) -> Origin | None:
    """Where a value of low precision was made."""
    for member in (value, *parts(value)):
        if member.tags & LOW and member.origin is not None and member.origin.word == "low precision":
            return member.origin
    return None


def _kept(last: str, arguments: list[Value], result: Value) -> Value:
    """A function of low-precision arrays, numbers and masks alone gives another one."""
    if last in NOT_FLOAT or result.kind not in _MAY_BE_LOW or result.tags & BOOLEAN_MASK:
        return result
    origin: Origin | None = None
    for value in arguments:
        if is_low(value):
            origin = origin or _source(value)
        elif (value.kind in ARRAYS and not value.tags & BOOLEAN_MASK) or value.kind in (UNKNOWN, TREE):
            return result
    return result.but(tags=result.tags | LOW, origin=origin)


def combined(a: Value, b: Value, result: Value) -> Value:
    """`a op b` where one is of low precision: so is the result if the other is, too, or is a number."""
    if result.kind not in _MAY_BE_LOW or result.tags & BOOLEAN_MASK:
        return result
    if all(side.tags & LOW or is_number(side) for side in (a, b)):
        source = a if a.tags & LOW else b
        return result.but(tags=result.tags | LOW, origin=source.origin)
    return result


def member(value: Value) -> Value:
    """A part of an array or tree of low precision."""
    return Value(value.kind, 0, LOW, None, None, value.origin, value.size)


# ---------------------------------------------------------------- solvers


def note_solver(frame: Frame, dotted: str, call: Call) -> None:
    """A call that solves, factorises or takes a second-order step, given values of low precision."""
    name = _given_solver(call) if dotted in TAKES_SOLVER else solver(dotted)
    if not name or frame.quiet or not hasattr(call.node, "lineno"):
        return
    for position, value in enumerate(call.values()):
        if not is_low(value):
            continue
        source = _source(value)
        use = frame.place(call.node)
        frame.record(
            LowPrecisionSolve(
                source.module.place(source.node) if source is not None else use,
                frame.symbol,
                frame.proof(),
                solver=name,
                use=use,
                dtype=source.extra if source is not None else "",
                operand=operand(frame, call.argument_node(position) or call.node, value),
            )
        )
        return


def _given_solver(call: Call) -> str:
    for value in call.values():
        if value.kind == FOREIGN and value.data.api in SECOND_ORDER:
            return str(value.data.api)
    return ""


__all__ = [
    "TYPED",
    "combined",
    "is_low",
    "low_like",
    "lowered",
    "member",
    "method",
    "note_solver",
    "typed",
]
