"""Arrays that functions make: of a shape that depends on data, or that varies as those of the arguments do."""

from __future__ import annotations

from jaxlint.flow.calls.sources import per_round
from jaxlint.flow.domain.kinds import PARAMETER, TRACED
from jaxlint.flow.domain.tags import DATA_SHAPE, SHAPED
from jaxlint.flow.domain.values import Origin, Value, collection
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.retrace.settled import is_settled
from jaxlint.flow.shapes.varied_shapes import varied_part
from jaxlint.jax_api.arrays import DATA_SHAPED, SIZE_KEYWORDS
from jaxlint.jax_api.transforms import EAGER, JIT, VMAP

# What brings an array to a size that does not depend on its own.
PADDING = frozenset({"pad", "resize"})
TRACED_NUMBER = Value(TRACED, size=1)
_TUPLES_OF_INDICES = frozenset({"nonzero", "where"})


def is_data_shaped(last: str, call: Call, level: int = EAGER) -> bool:
    """Whether the shape of the result depends on data: no static size is given."""
    if not SIZE_KEYWORDS.isdisjoint(call.keywords):
        return False
    if last in DATA_SHAPED:
        return True
    if last == "where":
        return len(call.positional) == 1 and not call.keywords
    if last == "repeat":
        return is_tracer(call.argument(1, "repeats"), level)
    return last == "bincount" and "length" not in call.keywords


def is_tracer(value: Value | None, level: int) -> bool:
    """Whether what is passed as a number or an array is traced at this level: under jit a parameter is."""
    return value is not None and (value.kind == TRACED or (value.kind == PARAMETER and level >= JIT))


def is_data_shaped_method(name: str, receiver: Value, call: Call, level: int) -> bool:
    """Whether the shape of what a method of a jax array gives depends on traced data: no static size is given."""
    if level < VMAP or not SIZE_KEYWORDS.isdisjoint(call.keywords):
        return False
    if name == "nonzero":
        return receiver.kind == TRACED
    if name in ("repeat", "compress"):
        return is_tracer(call.argument(0, "repeats" if name == "repeat" else "condition"), level)
    return False


def data_shaped(frame: Frame, kind: int, last: str, call: Call) -> Value:
    settled = is_settled(frame, call.node)
    varies, tags = (0, 0) if settled else (per_round(frame), DATA_SHAPE)
    array = Value(kind, varies, tags, None, None, Origin(frame.module, call.node, last))
    several = last == "unique" and any(word.startswith("return") for word in call.keywords)
    return collection(array) if last in _TUPLES_OF_INDICES or several else array


def array_of(kind: int, values: list[Value], tags: int = 0, size: int | None = None) -> Value:
    """The result of an array function: its shape is as variable as those of the arguments."""
    source = varied_part(values)
    if source is None:
        return Value(kind, 0, tags, None, None, None, size)
    return Value(kind, source.varies, source.tags & SHAPED | tags, None, None, source.origin, size)
