"""What crosses a jit boundary: what arguments bind, what they are inside the trace, and results outside of it."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from jaxlint.flow.calls.argument_binding import bind
from jaxlint.flow.calls.instances import generic_instance
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.kinds import (
    CONSTANT,
    DEVICE,
    FOREIGN,
    INSTANCE,
    PARAMETER,
    SCALAR,
    SHAPE,
    TRACERS,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.objects import Instance
from jaxlint.flow.domain.tags import BOOLEAN_MASK, LOW
from jaxlint.flow.domain.values import (
    DEVICE_VALUE,
    NONE,
    PERHAPS_TREE,
    TRACED_MASK,
    TRACED_PARAMETER,
    TRACED_VALUE,
    UNKNOWN_VALUE,
    Value,
    collection,
    is_number,
)
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.precision.weak_types import holds_weak, typed
from jaxlint.jax_api.transforms import EAGER

_NUMBER = Value(DEVICE, size=1)
_OBJECTS = 3  # objects in objects are followed so far
_ARRAY_KINDS = frozenset((3, 4, 5, 6, 7))  # SHAPE, HOST, DEVICE, TRACED, PARAMETER


def argument_names(call: Call, params: list[str] | None, skip: int, closure: Closure | None) -> list[Passed]:
    """What each argument of a call binds."""
    nodes = call.node.args if isinstance(call.node, ast.Call) else []
    found: list[Passed] = []
    stars = (i for i, node in enumerate(nodes) if isinstance(node, ast.Starred))
    told = next(stars, len(nodes) if len(nodes) + call.bound == len(call.positional) else 0)
    for position, value in enumerate(call.positional):
        index = position + skip
        name = params[index] if params is not None and index < len(params) else None
        own = position - call.bound
        node = nodes[own] if 0 <= own < told else call.node  # what a star brings has no place of its own
        found.append(Passed(index, name, value, node, False))
    keyword_nodes = {k.arg: k.value for k in call.node.keywords} if isinstance(call.node, ast.Call) else {}
    for word, value in call.keywords.items():
        position_of = params.index(word) if params is not None and word in params else None
        found.append(Passed(position_of, word, value, keyword_nodes.get(word, call.node), True))
    return found


def traced_arguments(
    frame: Frame, state: BoundaryState, closure: Closure, names: list[Passed], receiver: Value | None
) -> dict[str, Value]:
    """By parameter name: what the body of the boundary gets in a call. A default is no argument of the trace, and
    stays what it is."""
    function = closure.function
    arguments = bind(closure, [], {}, frame)
    if receiver is not None and function.params and function.is_method:
        arguments[function.params[0]] = passed_self(state, receiver)
    elif (
        function.is_method
        and closure.receiver is None
        and function.cls is not None
        and function.params[:1] == ["self"]
    ):
        arguments["self"] = passed_self(state, generic_instance(function.cls))
    for passed in names:
        name, value = passed.name, passed.value
        if name is None or (name not in function.index and name not in function.keyword_only):
            continue
        if receiver is not None and name == function.params[0]:
            continue
        if state.static is None or passed.is_static(state):
            arguments[name] = still(value)
        else:
            arguments[name] = as_traced(value, state.flavour)
    if frame.level == EAGER and any(holds_weak(passed.value) for passed in names):
        for passed in names:
            if passed.name in arguments:
                arguments[passed.name] = typed(passed.value, arguments[passed.name])
    return arguments


def passed_self(state: BoundaryState, receiver: Value) -> Value:
    """`self` of a jitted method: a pytree argument, unless it is static."""
    if receiver.kind != INSTANCE or (state.static is not None and not state.static.isdisjoint((0, "self"))):
        return receiver
    return Value(INSTANCE, receiver.varies, receiver.tags, receiver.data.as_argument())


def still(value: Value) -> Value:
    """A static argument as the trace sees it: one value, whatever changes outside."""
    if value.kind in TRACERS:
        return UNKNOWN_VALUE
    if value.kind in (SCALAR, UNKNOWN) and value.varies:
        return Value(value.kind, 0, value.tags & ~0)
    return value


def as_traced(value: Value, flavour: str) -> Value:
    """An argument inside the trace."""
    kind = value.kind
    if value.tags & LOW and kind != TREE:
        return Value(TRACED_VALUE.kind, 0, LOW, None, None, value.origin)
    if kind in _ARRAY_KINDS and kind != 3:
        if kind == PARAMETER:
            return value
        if kind == DEVICE and value.data is PERHAPS_TREE:
            return TRACED_PARAMETER
        return TRACED_MASK if value.tags & BOOLEAN_MASK else TRACED_VALUE
    if kind == INSTANCE and value.data.cls.is_pytree_value:
        return _traced_instance(value, flavour)
    if kind == INSTANCE and flavour not in ("filter", "nnx"):  # there a plain object is a constant
        return Value(INSTANCE, value.varies, value.tags, value.data.as_argument())
    if is_number(value) or kind == 3:
        return still(value) if flavour == "filter" else TRACED_VALUE
    if kind == CONSTANT and value.data is None:
        return NONE
    if kind == TREE:
        if value.data.__class__ is list:
            return Value(TREE, 0, 0, [as_traced(v, flavour) for v in value.data], None, value.origin)
        if value.data.__class__ is dict:
            return Value(
                TREE, 0, 0, {k: as_traced(v, flavour) for k, v in value.data.items()}, None, value.origin
            )
        return collection(
            as_traced(value.element, flavour) if value.element is not None else None, value.origin
        )
    if kind == UNKNOWN:
        return UNKNOWN_VALUE if flavour in ("filter", "nnx") or value.tags & ~0 else TRACED_PARAMETER
    return value


def _traced_instance(value: Value, flavour: str) -> Value:
    """A pytree object inside the trace: its leaves are tracers, its static fields are not."""
    old: Instance = value.data
    new = Instance(old.cls, old.home, old.loop, old.node)
    new.identity = old.identity
    new.copied = True
    static = old.cls.all_static_fields()
    for name, field in old.fields.items():
        new.fields[name] = still(field) if name in static else as_traced(field, flavour)
    return Value(INSTANCE, 0, value.tags, new)


def outside(value: Value | None, flavour: str = "jax", depth: int = _OBJECTS) -> Value:
    """What a traced function's result is to the eager caller. Equinox gives numbers back as they are."""
    if value is None:
        return UNKNOWN_VALUE
    kind = value.kind
    if kind == PARAMETER:
        return Value(DEVICE, 0, value.tags, PERHAPS_TREE, None, value.origin, value.size)
    if kind in TRACERS:
        return (
            Value(DEVICE, 0, value.tags, None, None, value.origin, value.size)
            if value.tags or value.size is not None
            else DEVICE_VALUE
        )
    if kind == TREE:
        return _outside_tree(value, flavour, depth)
    if flavour == "filter" and (kind == SCALAR or kind == CONSTANT):
        return value
    if kind in (SCALAR, SHAPE) or (kind == CONSTANT and isinstance(value.data, (int, float))):
        return _NUMBER
    if kind == INSTANCE and value.data.cls.is_pytree_value and depth:
        return _outside_instance(value, flavour, depth - 1)
    if kind in (INSTANCE, CONSTANT, FOREIGN):
        return value
    return UNKNOWN_VALUE


def _outside_tree(value: Value, flavour: str, depth: int) -> Value:
    if value.data.__class__ is list:
        members: Any = [outside(v, flavour, depth) for v in value.data]
    elif value.data.__class__ is dict:
        members = {k: outside(v, flavour, depth) for k, v in value.data.items()}
    else:
        return collection(outside(value.element, flavour, depth), value.origin)
    return Value(TREE, 0, value.tags, members, None, value.origin)


def _outside_instance(value: Value, flavour: str, depth: int) -> Value:
    """A pytree object: its leaves are arrays again, its static fields what they were."""
    static = value.data.cls.all_static_fields()
    thing = value.data.described()
    for name, field in value.data.fields.items():
        if name not in static:
            thing.fields[name] = outside(field, flavour, depth)
    return Value(INSTANCE, value.varies, value.tags, thing, None, value.origin)


class Passed(NamedTuple):
    """An argument of a boundary's call: the parameter it binds, its value and its syntax."""

    position: int | None
    name: str | None
    value: Value
    node: ast.AST
    keyword: bool

    def is_static(self, state: BoundaryState) -> bool:
        """Whether it stands at a position, or bears a name, that is known to be static. A signature ties the two
        together; where a boundary's is `(*args, **kwargs)`, as that of `net.apply` is, each counts for itself."""
        return (self.name if self.keyword else self.position) in (state.static or ())
