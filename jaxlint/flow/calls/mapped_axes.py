"""What `in_axes` says of an argument: mapped over, left alone, or some of its leaves one and some the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from jaxlint.flow.domain.kinds import CONSTANT, INSTANCE, TRACERS, TREE
from jaxlint.flow.domain.values import TRACED_PARAMETER, UNKNOWN_VALUE, Value, parts

# 0 where all of an argument is mapped over, None where none of it is, else what is given for it.
Axes: TypeAlias = "int | Value | None"


def axes_for(value: Value) -> Axes:
    """What is given for one argument."""
    if value.kind == CONSTANT:
        return None if value.data is None else 0
    if value.kind != TREE:
        return value
    members = {axes if axes in (0, None) else "both" for axes in map(axes_for, parts(value))}
    return members.pop() if len(members) == 1 and "both" not in members else value  # type: ignore[return-value]  # 0 or None


def inside(value: Value, axes: Axes, mapped: Callable[[Value], Value]) -> Value:
    """An argument as the mapped function has it. `mapped` makes a tracer of what is mapped over."""
    if not isinstance(axes, Value):
        return mapped(value) if axes is not None else _alone(value, mapped)
    if axes.kind == CONSTANT:
        return inside(value, axes_for(axes), mapped)
    if _alike(value, axes):
        if value.data.__class__ is dict:
            members: Any = {k: inside(v, axes.data[k], mapped) for k, v in value.data.items()}
        else:
            members = [inside(v, a, mapped) for v, a in zip(value.data, axes.data, strict=True)]
        return Value(TREE, 0, 0, members, None, value.origin)
    return UNKNOWN_VALUE


def parameter(axes: Axes) -> Value:
    """What a parameter is whoever calls the mapped function."""
    if not isinstance(axes, Value):
        return TRACED_PARAMETER if axes is not None else UNKNOWN_VALUE
    if axes.kind == CONSTANT:
        return parameter(axes_for(axes))
    if axes.kind == TREE and axes.data.__class__ is dict:
        return Value(TREE, 0, 0, {k: parameter(v) for k, v in axes.data.items()})
    if axes.kind == TREE and axes.data.__class__ is list:
        return Value(TREE, 0, 0, [parameter(v) for v in axes.data])
    return UNKNOWN_VALUE


def _alike(value: Value, axes: Value) -> bool:
    """Whether two trees have the same members."""
    if value.kind != TREE or axes.kind != TREE or value.data.__class__ is not axes.data.__class__:
        return False
    if value.data.__class__ is dict:
        return bool(value.data.keys() == axes.data.keys())
    return value.data.__class__ is list and len(value.data) == len(axes.data)


def _alone(value: Value, mapped: Callable[[Value], Value]) -> Value:
    """What is not mapped over is what it was, and no tracer of this trace. What is known of it outside need not
    hold."""
    if value.kind != INSTANCE:
        return UNKNOWN_VALUE
    if not value.data.cls.is_pytree_value:
        return mapped(value)  # an object that is no tree is the same everywhere
    thing = value.data.described()
    thing.copied = True
    for name, field in value.data.fields.items():
        if field.kind not in TRACERS and name not in value.data.cls.all_static_fields():
            thing.fields[name] = _alone(field, mapped)
    return Value(INSTANCE, value.varies, value.tags, thing, None, value.origin)
