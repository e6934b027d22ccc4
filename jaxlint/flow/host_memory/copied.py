"""Copies on the host of arrays on the device, as values: they are followed through calls, fields and containers."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.flow.domain.kinds import DEVICE, HOST, INSTANCE, TREE, UNKNOWN
from jaxlint.flow.domain.sizes import is_small
from jaxlint.flow.domain.tags import COPIED
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value, parts
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.syntax.outputs import is_called_a_number, output_of

_COPYING = frozenset({"asarray", "array", "ascontiguousarray"})
# Functions and methods whose result is as large as their argument.
_AS_LARGE = frozenset(
    {
        "astype",
        "copy",
        "reshape",
        "ravel",
        "flatten",
        "transpose",
        "squeeze",
        "swapaxes",
        "moveaxis",
        "flip",
        "clip",
    }
    | {"round", "rint", "abs", "uint8", "float16", "float32", "rot90", "fliplr", "flipud"}
)
_NESTED = 3


def copied(value: Value, depth: int = 0) -> Value:
    """What `device_get`, or `np.asarray` of each leaf, makes of an array or a tree; leaves that are not understood
    stay so."""
    if value.kind == DEVICE:
        tag = COPIED if _is_large(value) else 0
        return Value(HOST, 0, value.tags | tag, None, None, value.origin, value.size)
    if value.kind == INSTANCE and value.data.cls.is_pytree_value and depth < _NESTED:
        thing = value.data.described()
        thing.fields = {name: copied(field, depth + 1) for name, field in thing.fields.items()}
        return Value(INSTANCE, 0, value.tags, thing)
    if value.kind != TREE or depth >= _NESTED:
        return UNKNOWN_VALUE if value.kind in (TREE, INSTANCE) else value
    data, element = value.data, value.element
    if data.__class__ is list:
        data = [copied(member, depth + 1) for member in data]
    elif data.__class__ is dict:
        data = {k: copied(v, depth + 1) for k, v in data.items()}
    return Value(TREE, 0, 0, data, copied(element, depth + 1) if element is not None else None)


def of_numpy_call(frame: Frame, last: str, call: Call, result: Value) -> Value:
    """The result of a numpy function, called eagerly."""
    if result.kind != HOST or not call.positional:
        return result
    first = call.positional[0]
    if first.tags & COPIED and last in (_AS_LARGE | _COPYING):
        return result.but(tags=result.tags | COPIED)
    node = call.argument_node(0)
    named = node is not None and is_called_a_number(node)
    if last not in _COPYING or named or not (_is_large(first) or _is_output(frame, call, first)):
        return result
    return result.but(tags=result.tags | COPIED)


def of_output(frame: Frame, call: Call, value: Value) -> Value:
    """`device_get` of what is not understood: an array, or a tree of them, if a boundary returned it."""
    if not _is_output(frame, call, value):
        return UNKNOWN_VALUE
    return Value(UNKNOWN, 0, COPIED, size=value.size)


def of_method(receiver: Value, name: str, result: Value) -> Value:
    """The result of a method of a copy."""
    return result.but(tags=result.tags | COPIED) if name in _AS_LARGE and result.kind == HOST else result


def _is_large(value: Value) -> bool:
    return value.kind == DEVICE and value.size != 1


def _is_output(frame: Frame, call: Call, value: Value) -> bool:
    """What a boundary returns that is not understood, unless it has the name of a number."""
    asked = value.kind == UNKNOWN and not (frame.quiet or call.decorator)
    node = call.argument_node(0) if asked else None
    output = output_of(frame, node, value) if node is not None else None
    return output is not None and output.what != "number"


def copies_in(value: Value, depth: int = 0) -> Iterator[Value]:
    """The copies in a value that are not proven small."""
    if value.kind in (HOST, UNKNOWN) and value.tags & COPIED and not is_small(value):
        yield value
    elif value.kind in (TREE, INSTANCE) and depth < _NESTED:
        for member in parts(value):
            yield from copies_in(member, depth + 1)
