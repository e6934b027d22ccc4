"""Shapes that are not the same each time: what makes them so, and what takes that away again."""

from __future__ import annotations

from jaxlint.flow.frame import Call
from jaxlint.flow.values import CONSTANT, TREE, Value, parts
from jaxlint.jax_api.arrays import OWN_SHAPE, REDUCTIONS


def settles(name: str, call: Call, axis_position: int) -> bool:
    """Whether the shape of a function's result does not follow the first axis of its argument, which is the one
    that varies: it reduces that axis, or gives another shape altogether."""
    if name in OWN_SHAPE:
        return True
    return name in REDUCTIONS and _is_first(call.argument(axis_position, "axis"))


def _is_first(axis: Value | None) -> bool:
    """All axes, or the first one among others."""
    if axis is None:
        return True
    if axis.kind == TREE:
        return any(member.kind == CONSTANT and member.data == 0 for member in parts(axis))
    return axis.kind == CONSTANT and axis.data in (0, None)
