"""A function under `grad`, `vmap` and the like: what it gets of a call's arguments, what becomes of its result."""

from __future__ import annotations

from jaxlint.flow.boundaries.crossing import as_traced, outside
from jaxlint.flow.calls.mapped_axes import inside
from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.kinds import DEVICE, HOST, INSTANCE, PARAMETER, SCALAR, TREE, UNKNOWN
from jaxlint.flow.domain.tags import TYPES
from jaxlint.flow.domain.values import (
    DEVICE_VALUE,
    TRACED_PARAMETER,
    TRACED_VALUE,
    UNKNOWN_VALUE,
    Value,
    tree,
)
from jaxlint.flow.frame import Frame
from jaxlint.flow.precision.dtypes import is_low, low_like
from jaxlint.jax_api.transforms import EAGER, GRAD


def arguments_inside(
    closure: Closure, positional: list[Value], keywords: dict[str, Value]
) -> tuple[list[Value], dict[str, Value]]:
    """Arguments as the transformed function sees them: tracers, but those that `in_axes` leaves alone."""
    traceable = (DEVICE, HOST, UNKNOWN, TREE, SCALAR, PARAMETER, INSTANCE)
    only_grad = all(level == GRAD for level, _ in closure.transforms)

    def mapped(value: Value) -> Value:
        if value.kind not in traceable:
            return value
        return UNKNOWN_VALUE if closure.axes_unknown else as_traced(value, "jax")

    axes = closure.in_axes
    offset = closure.offset
    result = []
    for position, value in enumerate(positional):
        if only_grad:
            differentiated = closure.argnums is None or position in closure.argnums
            result.append(mapped(value) if differentiated else value)
            continue
        given = axes is not None and position + offset < len(axes)
        result.append(inside(value, axes[position + offset] if axes is not None and given else 0, mapped))
    return result, {name: value if only_grad else mapped(value) for name, value in keywords.items()}


def result_outside(frame: Frame, closure: Closure, result: Value, positional: list[Value]) -> Value:
    """What the caller has of the result of the function itself."""
    names = [name for _, name in closure.transforms]
    array = TRACED_VALUE if frame.level else DEVICE_VALUE
    loose = TRACED_PARAMETER if frame.level else DEVICE_VALUE
    if "value_and_grad" in names:
        first = array if "vmap" in names else _differentiated(result, array)
        return tree(
            [outside(first) if frame.level == EAGER else first, _gradient(closure, positional, loose)]
        )
    if frame.level == EAGER:
        return outside(result)
    if result.kind == INSTANCE:
        return result
    found = TRACED_PARAMETER if result.kind in (TREE, UNKNOWN, PARAMETER) else array
    return _gradient(closure, positional, found) if names == ["grad"] else found


def _gradient(closure: Closure, positional: list[Value], gradient: Value) -> Value:
    """A gradient has the dtypes of what it is taken by."""
    by = [value for position, value in enumerate(positional) if position in (closure.argnums or ())]
    return low_like(by[0], gradient) if by and all(map(is_low, by)) else gradient


def _differentiated(result: Value, array: Value) -> Value:
    """The value that `value_and_grad` gives beside the gradient: a number, or a number and what comes with it."""
    if result.kind == TREE and result.data.__class__ is list and result.data:
        return tree([_number(result.data[0], array), *result.data[1:]])
    return result if result.kind == TREE and result.data else _number(result, array)


def _number(result: Value, array: Value) -> Value:
    return Value(array.kind, 0, result.tags & TYPES, None, None, None, 1)
