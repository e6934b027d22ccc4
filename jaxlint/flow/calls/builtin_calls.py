"""Python's own functions."""

from __future__ import annotations

from jaxlint.flow.calls import patching
from jaxlint.flow.calls.builtin_collections import COLLECTION_HANDLERS
from jaxlint.flow.calls.builtin_numbers import NUMBER_HANDLERS, asks, number
from jaxlint.flow.domain import text
from jaxlint.flow.domain.joining import join, join_all
from jaxlint.flow.domain.kinds import API, BOUNDARY, CONSTANT, MODULE, TRACED, TRACERS, TREE, UNKNOWN
from jaxlint.flow.domain.tags import BOUNDED, EVEN, TEXT
from jaxlint.flow.domain.values import BOOL_VALUE, TEXT_VALUE, UNKNOWN_VALUE, Value, parts
from jaxlint.flow.expressions.superclasses import methods_spelled, super_of
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.shapes.text_lengths import is_filled
from jaxlint.jax_api.arrays import ARRAY_ATTRIBUTES, STATIC_ATTRIBUTES
from jaxlint.jax_api.categories import canonical

_ASKS_ELEMENTS = frozenset({"min", "max", "sorted", "any", "all"})
_NUMBERS = frozenset({"int", "float", "bool", "complex"})
_OF_TRACERS = frozenset({"jax.Array", "jax.numpy.ndarray", "jax.core.Tracer"})
# A parameter of traced code may be a tree of tracers instead, but nothing of these.
_NOT_OF_TRACERS = frozenset({"numpy.ndarray", "numpy.generic", "numpy.number"}) | frozenset(
    {"builtins.int", "builtins.float", "builtins.bool", "builtins.complex", "builtins.str", "builtins.range"}
)
_CONTAINERS = frozenset({"builtins.list", "builtins.tuple", "builtins.dict", "builtins.set"})


@api_call("builtin")
def builtin(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    first = call.positional[0] if call.positional else UNKNOWN_VALUE
    if last in _NUMBERS:
        return number(frame, last, first, call)
    if last in _ASKS_ELEMENTS:
        return asks(frame, last, first, call)
    handler = _HANDLERS.get(last)
    if handler is not None:
        return handler(frame, first, call)
    for value in call.values():
        if value.kind == BOUNDARY:
            value.data.escapes = True
    return UNKNOWN_VALUE


def _isinstance(frame: Frame, first: Value, call: Call) -> Value:
    """What is known of a tracer, which is a `jax.Array` and nothing of numpy's or Python's."""
    given = call.positional[1] if len(call.positional) > 1 else UNKNOWN_VALUE
    classes = parts(given) if given.kind == TREE else [given]
    names = [str(each.data) if each.kind == API else "" for each in classes]
    if first.kind == TRACED and any(canonical(name) in _OF_TRACERS for name in names):
        return Value(CONSTANT, data=True)
    never = _NOT_OF_TRACERS | (_CONTAINERS if first.kind == TRACED else frozenset())
    if first.kind in TRACERS and names and all(name in never for name in names):
        return Value(CONSTANT, data=False)
    return BOOL_VALUE


def _callable(frame: Frame, first: Value, call: Call) -> Value:
    return BOOL_VALUE


def _hasattr(frame: Frame, first: Value, call: Call) -> Value:
    name = call.positional[1] if len(call.positional) > 1 else UNKNOWN_VALUE
    if first.kind == TRACED and name.kind == CONSTANT:
        return Value(
            CONSTANT,
            data=name.data in STATIC_ATTRIBUTES or name.data in ARRAY_ATTRIBUTES or name.data == "at",
        )
    return BOOL_VALUE


def _text(frame: Frame, first: Value, call: Call) -> Value:
    if first.varies:
        even = EVEN if is_filled(call.argument_node(1)) else 0
        return Value(UNKNOWN, first.varies, TEXT | even | first.tags & BOUNDED, None, None, first.origin)
    return TEXT_VALUE


def _getattr(frame: Frame, first: Value, call: Call) -> Value:
    import ast

    from jaxlint.flow.expressions.attributes import attribute

    if len(call.positional) < 2 or not isinstance(call.node, ast.Call) or len(call.node.args) < 2:
        return UNKNOWN_VALUE
    name, of = text.spelled(call.positional[1]), call.node.args[0]
    names = [name] if name is not None else methods_spelled(first, call.node.args[1])
    found = join_all(
        attribute(frame, first, ast.copy_location(ast.Attribute(of, each, ast.Load()), call.node))
        for each in names
    )
    if found is None:
        return UNKNOWN_VALUE
    return found if len(call.positional) < 3 else join(found, call.positional[2])


def _globals(frame: Frame, first: Value, call: Call) -> Value:
    """`globals()`, `vars(module)`: the module, whose names are looked up and changed by subscripts."""
    return Value(MODULE, data=frame.module) if not call.positional else UNKNOWN_VALUE


def _vars(frame: Frame, first: Value, call: Call) -> Value:
    return first if first.kind == MODULE else UNKNOWN_VALUE


def _super(frame: Frame, first: Value, call: Call) -> Value:
    return super_of(frame, call)


def _setattr(frame: Frame, first: Value, call: Call) -> Value:
    patching.builtin_setattr(frame, call)
    return UNKNOWN_VALUE


_HANDLERS = {
    **COLLECTION_HANDLERS,
    **NUMBER_HANDLERS,
    "isinstance": _isinstance,
    "callable": _callable,
    "hasattr": _hasattr,
    "str": _text,
    "repr": _text,
    "format": _text,
    "getattr": _getattr,
    "setattr": _setattr,
    "super": _super,
    "globals": _globals,
    "vars": _vars,
}
