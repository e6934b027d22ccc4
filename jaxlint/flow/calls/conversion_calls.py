"""Dtypes as functions, `device_put`, `device_get`: what is given, of another dtype or elsewhere; static facts."""

from __future__ import annotations

from jaxlint.flow.config.configuration import device_use
from jaxlint.flow.device_memory.datasets import note_transfer
from jaxlint.flow.domain.kinds import DEVICE, HOST, INSTANCE, TREE, UNKNOWN
from jaxlint.flow.domain.sizes import unknown_of
from jaxlint.flow.domain.values import SHAPE_VALUE, TRACED_VALUE, UNKNOWN_VALUE, Value, is_number
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.host_memory.copied import copied, of_output
from jaxlint.flow.host_memory.lending import lend
from jaxlint.flow.precision.dtypes import dtype_of
from jaxlint.flow.program import api
from jaxlint.flow.trace import traced
from jaxlint.jax_api.transforms import JIT


@api_call("static")
def static(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    if last == "dtype" and call.positional and (named := dtype_of(call.positional[0])):
        return api(f"jax.numpy.{named}")
    return SHAPE_VALUE


@api_call("dtype")
def dtype(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`jnp.float32(x)` makes an array."""
    if frame.level:
        return TRACED_VALUE if frame.level >= JIT or traced.contains_tracer(call.values()) else Value(DEVICE)
    device_use(frame, call.node, dotted)
    note_transfer(frame, call)
    size = 1 if call.positional and is_number(call.positional[0]) else None
    return Value(DEVICE, 0, 0, None, None, None, size)


@api_call("device_put")
def device_put(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    if frame.level:
        return call.positional[0] if call.positional else TRACED_VALUE
    device_use(frame, call.node, dotted)
    note_transfer(frame, call)
    lend(frame, dotted, call)
    first = call.argument(0, "x")
    if first is not None and first.kind in (HOST, DEVICE):
        return Value(DEVICE, first.varies, first.tags, None, None, first.origin, first.size)
    if first is not None and first.kind == TREE:
        return first
    return Value(DEVICE, size=unknown_of(first).size)


@api_call("device_get")
def device_get(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    first = call.argument(0, "x")
    if first is None or first.kind == UNKNOWN:
        return of_output(frame, call, UNKNOWN_VALUE if first is None else first)
    return copied(first) if first.kind in (DEVICE, TREE, INSTANCE) else UNKNOWN_VALUE


@api_call("identity")
def identity(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    return call.positional[0] if call.positional else UNKNOWN_VALUE
