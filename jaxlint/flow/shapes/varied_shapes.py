"""Whether the shape of a result varies because that of an argument does."""

from __future__ import annotations

from jaxlint.flow.domain.kinds import CONSTANT, TREE
from jaxlint.flow.domain.origin_words import FEW, SIZE
from jaxlint.flow.domain.tags import SHAPED
from jaxlint.flow.domain.values import Value, parts
from jaxlint.flow.frame import Call
from jaxlint.flow.shapes.made_sizes import Moving
from jaxlint.jax_api.arrays import OWN_SHAPE, REDUCTIONS


def varied_part(values: list[Value]) -> Value | None:
    """The value, or the member of one, whose shape is not the same each time."""
    for value in values:
        members = [value, *parts(value)] if value.kind == TREE else [value]
        if _is_padded(members[1:]):
            continue
        for member in members:
            if member.tags & SHAPED:
                return member
    return None


def _is_padded(members: list[Value]) -> bool:
    """`[batch, np.zeros(size - len(batch))]`: what has a size of its own fills up what is missing."""
    fillings = [m for m in members if m.origin is not None and m.origin.word in (SIZE, FEW)]
    filled = any(isinstance(m.origin.extra, Moving) and m.origin.extra.missing for m in fillings if m.origin)
    return filled or 0 < len(fillings) < len(members)


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
