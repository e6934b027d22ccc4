"""Calls of numpy: on the host, or on tracers."""

from __future__ import annotations

from jaxlint.flow.calls.array_results import PADDING, array_of, data_shaped, is_data_shaped
from jaxlint.flow.domain.kinds import ARRAYS, HOST, PARAMETER, SHAPE, TRACED, TREE
from jaxlint.flow.domain.values import HOST_VALUE, SHAPE_VALUE, TRACED_VALUE, UNKNOWN_VALUE, Value, parts
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.host_memory.copied import of_numpy_call
from jaxlint.flow.retrace.growth import lengthened
from jaxlint.flow.retrace.split_parts import split_unevenly
from jaxlint.flow.shapes.element_counts import element_count
from jaxlint.flow.shapes.lengths import from_sequence
from jaxlint.flow.shapes.made_sizes import made_to_size
from jaxlint.flow.shapes.text_lengths import are_words
from jaxlint.flow.shapes.varied_shapes import settles
from jaxlint.flow.trace import traced
from jaxlint.jax_api.arrays import DTYPES, GROWING, NUMPY_FALSE, NUMPY_SILENT, SIZED, TYPES
from jaxlint.jax_api.transforms import VMAP


@api_call("numpy")
def numpy(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    result = _result(frame, dotted, last, call)
    return result if frame.level else of_numpy_call(frame, last, call, result)


def _result(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    values = call.values()
    has_tracer = frame.level > 0 and traced.contains_tracer(values)
    if has_tracer and frame.level >= VMAP and last not in DTYPES and last not in TYPES:
        if last in NUMPY_FALSE:
            traced.numpy_call(frame, call.node, dotted, _first_tracer(values), silent=True)
            return UNKNOWN_VALUE
        if last not in NUMPY_SILENT:
            proven = any(v.kind == TRACED for v in _flat(values)) or any(
                v.kind == PARAMETER for v in call.positional if v.kind in ARRAYS
            )
            if proven:
                traced.numpy_call(frame, call.node, dotted, _first_tracer(values))
            return TRACED_VALUE
    if has_tracer:
        if last in ("shape", "ndim", "size"):
            return SHAPE_VALUE
        # A method's result on what is perhaps no array: `np.prod(shape)` of a parameter is a number.
        return TRACED_VALUE if any(v.kind == TRACED for v in _flat(values)) else UNKNOWN_VALUE
    if is_data_shaped(last, call) and "minlength" not in call.keywords:
        return data_shaped(frame, HOST, last, call)
    varied = (
        from_sequence(frame, HOST, last, call)
        or made_to_size(frame, HOST, SIZED.get(last), last, call)
        or split_unevenly(frame, HOST, last, call)
    )
    if varied is not None:
        return varied
    if last in PADDING:
        return HOST_VALUE
    if last in GROWING:
        return lengthened(frame, array_of(HOST, values), call)
    if (
        last in ("prod", "shape", "ndim", "size", "broadcast_shapes")
        and call.positional
        and call.positional[0].kind in (SHAPE, TREE)
    ):
        return SHAPE_VALUE
    if last in DTYPES or last in TYPES:
        return Value(HOST, 0, 0, None, None, None, 1) if call.positional else UNKNOWN_VALUE
    return array_of(
        HOST,
        [] if settles(last, call, 1) or any(map(are_words, values)) else values,
        0,
        element_count(last, call),
    )


def _flat(values: list[Value]) -> list[Value]:
    flat: list[Value] = []
    for value in values:
        flat.append(value)
        if value.kind == TREE:
            flat += _flat(parts(value))
    return flat


def _first_tracer(values: list[Value]) -> Value:
    flat = _flat(values)
    for kind in (TRACED, PARAMETER):
        for value in flat:
            if value.kind == kind:
                return value
    return values[0] if values else UNKNOWN_VALUE
