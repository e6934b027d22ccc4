"""Calls of jnp, lax, random and nn."""

from __future__ import annotations

from jaxlint.flow.calls.array_results import PADDING, TRACED_NUMBER, array_of, data_shaped, is_data_shaped
from jaxlint.flow.config.configuration import device_use
from jaxlint.flow.device_memory.attention import note_softmax
from jaxlint.flow.device_memory.datasets import note_transfer
from jaxlint.flow.domain.kinds import ARRAYS, CONSTANT, DEVICE, SCALAR, SHAPE, TRACED
from jaxlint.flow.domain.tags import DATA_SHAPE, MEMBER
from jaxlint.flow.domain.values import DEVICE_VALUE, SHAPE_VALUE, TRACED_VALUE, Value
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.host_memory.lending import lend
from jaxlint.flow.precision.weak_types import made_weak
from jaxlint.flow.retrace.growth import lengthened
from jaxlint.flow.retrace.split_parts import split_unevenly
from jaxlint.flow.shapes.element_counts import element_count, gives_number
from jaxlint.flow.shapes.lengths import from_sequence
from jaxlint.flow.shapes.made_sizes import made_to_size
from jaxlint.flow.shapes.static_sizes import check_sizes
from jaxlint.flow.shapes.varied_shapes import settles
from jaxlint.flow.trace import traced
from jaxlint.jax_api.arrays import GROWING, RNG_SPLITTERS, SIZED, SIZED_LAX
from jaxlint.jax_api.transforms import EAGER, JIT, VMAP


@api_call("jnp")
def jnp(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    values = call.values()
    if last == "exp":
        note_softmax(frame, call, by_hand=True)
    if frame.level == EAGER:
        device_use(frame, call.node, dotted)
        return _eager_jnp(frame, last, call, values)
    if is_data_shaped(last, call, frame.level) and frame.level >= VMAP:
        subject = call.positional[0] if call.positional else None
        proven = traced.contains_tracer(values) or (
            frame.level >= JIT and subject is not None and subject.kind in ARRAYS
        )
        if proven:
            traced.data_shape(frame, call.node, dotted, "call", subject)
            return Value(TRACED, 0, DATA_SHAPE)
    check_sizes(frame, SIZED.get(last), dotted, call)
    if traced.all_results_traced(frame, values):
        if last in GROWING:
            return lengthened(frame, Value(TRACED), call)
        return TRACED_NUMBER if gives_number(last, call) else TRACED_VALUE
    return DEVICE_VALUE


def _eager_jnp(frame: Frame, last: str, call: Call, values: list[Value]) -> Value:
    if is_data_shaped(last, call):
        return data_shaped(frame, DEVICE, last, call)
    varied = (
        from_sequence(frame, DEVICE, last, call)
        or made_to_size(frame, DEVICE, SIZED.get(last), last, call)
        or split_unevenly(frame, DEVICE, last, call)
    )
    if varied is not None:
        return varied
    if last in PADDING:
        return DEVICE_VALUE
    if last in GROWING:
        return lengthened(frame, array_of(DEVICE, values), call)
    tags = 0
    if last in ("asarray", "array"):
        tags = values[0].tags & MEMBER if values else 0
        note_transfer(frame, call)
        if last == "asarray":
            lend(frame, "jax.numpy.asarray", call)
    made = array_of(DEVICE, [] if settles(last, call, 1) else values, tags, element_count(last, call))
    return made_weak(frame, last, call, made) if last in ("array", "asarray", "full") else made


@api_call("lax")
def lax(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    values = call.values()
    if last in ("softmax", "exp"):
        note_softmax(frame, call, by_hand=last == "exp")
    if (
        last in ("psum", "pmax", "pmin", "pmean")
        and call.positional
        and call.positional[0].kind in (CONSTANT, SCALAR, SHAPE)
    ):
        return SHAPE_VALUE
    if frame.level == EAGER:
        device_use(frame, call.node, dotted)
        varied = made_to_size(frame, DEVICE, SIZED_LAX.get(dotted), last, call)
        if varied is not None:
            return varied
        if last in RNG_SPLITTERS:
            return Value(DEVICE, 0, 0, None, None, None, 64)
        if last == "concatenate":
            return lengthened(frame, array_of(DEVICE, values), call)
        if dotted.startswith("jax.nn.") and not settles(last, call, 1):
            return array_of(DEVICE, call.positional[:1], 0, element_count(last, call))
        return Value(DEVICE, 0, 0, None, None, None, element_count(last, call))
    check_sizes(frame, SIZED_LAX.get(dotted), dotted, call)
    if traced.all_results_traced(frame, values):
        if last == "concatenate":
            return lengthened(frame, Value(TRACED), call)
        if gives_number(last, call):
            return TRACED_NUMBER
        return TRACED_VALUE
    return Value(DEVICE)
