"""Calls of jnp, lax, random, nn and numpy."""

from __future__ import annotations

import ast

from jaxlint.flow import growth, traced, upcasts
from jaxlint.flow.attention import note_softmax
from jaxlint.flow.configuration import device_use
from jaxlint.flow.crossing import as_traced
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.growth import lengthened
from jaxlint.flow.iteration import element_of
from jaxlint.flow.kinds import (
    API,
    ARRAYS,
    CONSTANT,
    DEVICE,
    FUNCTION,
    HOST,
    INSTANCE,
    NUMBERS,
    PARAMETER,
    SCALAR,
    SHAPE,
    TRACED,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.lending import TRANSFERS, lend
from jaxlint.flow.lengths import from_sequence
from jaxlint.flow.shapes import made_to_size, settles, varied_part
from jaxlint.flow.sources import per_round
from jaxlint.flow.tags import BOUNDED, DATA_SHAPE, LENGTHENED, SHAPED, UPDATED
from jaxlint.flow.transfers import note_transfer
from jaxlint.flow.values import (
    DEVICE_MASK,
    DEVICE_VALUE,
    HOST_VALUE,
    SHAPE_VALUE,
    TRACED_PARAMETER,
    TRACED_VALUE,
    UNKNOWN_VALUE,
    Origin,
    Value,
    collection,
    is_number,
    parts,
)
from jaxlint.flow.weak_types import made_weak
from jaxlint.jax_api.arrays import (
    DATA_SHAPED,
    DTYPES,
    ELEMENTWISE,
    GROWING,
    MAKERS,
    NUMPY_FALSE,
    NUMPY_SILENT,
    ONE_NUMBER,
    REDUCTIONS,
    RNG_SPLITTERS,
    SIZE_KEYWORDS,
    SIZED,
    SIZED_LAX,
    TYPES,
)
from jaxlint.jax_api.transforms import EAGER, JIT, VMAP

_LIKE = frozenset({"zeros_like", "ones_like", "full_like", "empty_like"})
# What brings an array to a size that does not depend on its own.
_PADDING = frozenset({"pad", "resize"})
_NUMBER = Value(TRACED, size=1)
_TUPLES_OF_INDICES = frozenset({"nonzero", "where"})


def _is_data_shaped(last: str, call: Call) -> bool:
    """Whether the shape of the result depends on data: no static size is given."""
    if not SIZE_KEYWORDS.isdisjoint(call.keywords):
        return False
    if last in DATA_SHAPED:
        return True
    if last == "where":
        return len(call.positional) == 1 and not call.keywords
    if last == "repeat":
        repeats = call.argument(1, "repeats")
        return repeats is not None and repeats.kind == TRACED
    return last == "bincount" and "length" not in call.keywords


@api_call("jnp")
def jnp(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    values = call.values()
    if last == "exp":
        note_softmax(frame, call, by_hand=True)
    if frame.level == EAGER:
        device_use(frame, call.node, dotted)
        return _eager_jnp(frame, last, call, values)
    if _is_data_shaped(last, call) and frame.level >= VMAP:
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
        return _NUMBER if gives_number(last, call) else TRACED_VALUE
    return DEVICE_VALUE


def gives_number(last: str, call: Call) -> bool:
    """Whether the function gives one number: it reduces all axes, or takes numbers element by element."""
    if last in REDUCTIONS or last in ONE_NUMBER:
        alone = len(call.positional) == 1 or last in ("vdot", "count_nonzero")
        return alone and "axis" not in call.keywords and not call.starred
    values = call.positional
    if last not in ELEMENTWISE or len(values) < (3 if last == "where" else 1):
        return False
    return call.keywords.keys() <= {"dtype", "axis_name"} and all(
        v.size == 1 or is_number(v) for v in values[:3]
    )


def _eager_jnp(frame: Frame, last: str, call: Call, values: list[Value]) -> Value:
    if _is_data_shaped(last, call):
        return _data_shaped(frame, DEVICE, last, call)
    varied = from_sequence(frame, DEVICE, last, call) or made_to_size(
        frame, DEVICE, SIZED.get(last), last, call
    )
    if varied is not None:
        return varied
    if last in _PADDING:
        return DEVICE_VALUE
    if last in GROWING:
        return lengthened(frame, _array(DEVICE, values), call)
    if last in ("asarray", "array"):
        note_transfer(frame, call)
        if last == "asarray":
            lend(frame, "jax.numpy.asarray", call)
    made = _array(DEVICE, [] if settles(last, call, 1) else values, 0, _size(last, call))
    return made_weak(frame, last, call, made) if last in ("array", "asarray", "full") else made


def _data_shaped(frame: Frame, kind: int, last: str, call: Call) -> Value:
    array = Value(kind, per_round(frame), DATA_SHAPE, None, None, Origin(frame.module, call.node, last))
    several = last == "unique" and any(word.startswith("return") for word in call.keywords)
    return collection(array) if last in _TUPLES_OF_INDICES or several else array


def _array(kind: int, values: list[Value], tags: int = 0, size: int | None = None) -> Value:
    """The result of an array function: its shape is as variable as those of the arguments."""
    source = varied_part(values)
    if source is None:
        return Value(kind, 0, tags, None, None, None, size)
    return Value(kind, source.varies, source.tags & SHAPED | tags, None, None, source.origin, size)


def _size(last: str, call: Call) -> int | None:
    """A bound on the number of elements of the result, where shapes are in view."""
    position = MAKERS.get(last)
    if position is not None:
        shape = call.argument(position, "shape", "N")
        if shape is None:
            return 1 if last in ("normal", "uniform", "randint", "bernoulli", "gumbel") else None
        product = _product(shape)
        if product is not None and last in ("eye", "identity"):
            columns = call.argument(1, "M")
            return product * product if columns is None else None
        return product
    if last in ("arange", "linspace"):
        bound = call.argument(2, "num") if last == "linspace" else call.argument(0)
        if last == "arange" and len(call.positional) > 1:
            bound = call.positional[1]
        return (
            int(bound.data)
            if bound is not None and bound.kind == CONSTANT and isinstance(bound.data, (int, float))
            else None
        )
    if last in REDUCTIONS and "axis" not in call.keywords and len(call.positional) == 1:
        return 1
    if call.positional:
        first = call.positional[0]
        if first.kind in NUMBERS and is_number(first):
            return 1 if len(call.positional) == 1 else call.positional[1].size
        if first.kind == TREE and last in ("array", "asarray", "stack", "concatenate"):
            sizes = [1 if is_number(v) else v.size for v in parts(first)]
            if first.data.__class__ is list and all(s is not None for s in sizes):
                return sum(s for s in sizes if s is not None)
            return None
        return first.size
    return None


def _product(shape: Value) -> int | None:
    members = parts(shape) if shape.kind == TREE else [shape]
    if shape.kind == TREE and shape.data is None:
        return None
    product = 1
    for member in members:
        if member.kind != CONSTANT or type(member.data) is not int:
            return None
        product *= max(member.data, 1)
    return product


def check_sizes(
    frame: Frame, sized: tuple[tuple[int, ...], tuple[str, ...]] | None, dotted: str, call: Call
) -> None:
    """Report tracers where a call needs static sizes."""
    if sized is None or frame.level < VMAP or frame.quiet:
        return
    positions, keywords = sized
    last = dotted.rpartition(".")[2]
    for position in positions:
        if position < len(call.positional):
            traced.size(
                frame,
                call.argument_node(position) or call.node,
                call.positional[position],
                dotted,
                _word(last),
            )
    for word in keywords:
        value = call.keywords.get(word)
        if value is not None:
            traced.size(frame, call.argument_node(99, word) or call.node, value, dotted, _word(last))


def _word(last: str) -> str:
    if last in ("split", "array_split", "hsplit", "vsplit"):
        return "sections"
    return "length" if last in ("arange", "linspace", "scan", "top_k", "one_hot") else "shape"


@api_call("lax")
def lax(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    values = call.values()
    if last == "softmax":
        note_softmax(frame, call)
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
            return lengthened(frame, _array(DEVICE, values), call)
        if dotted.startswith("jax.nn.") and not settles(last, call, 1):
            return _array(DEVICE, call.positional[:1], 0, _size(last, call))
        return Value(DEVICE, 0, 0, None, None, None, _size(last, call))
    check_sizes(frame, SIZED_LAX.get(dotted), dotted, call)
    if traced.all_results_traced(frame, values):
        if last == "concatenate":
            return lengthened(frame, Value(TRACED), call)
        if gives_number(last, call):
            return _NUMBER
        return TRACED_PARAMETER if last in RNG_SPLITTERS else TRACED_VALUE
    return Value(DEVICE)


@api_call("numpy")
def numpy(frame: Frame, dotted: str, last: str, call: Call) -> Value:
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
    if _is_data_shaped(last, call):
        return _data_shaped(frame, HOST, last, call)
    varied = from_sequence(frame, HOST, last, call) or made_to_size(frame, HOST, SIZED.get(last), last, call)
    if varied is not None:
        return varied
    if last in _PADDING:
        return HOST_VALUE
    if last in GROWING:
        return lengthened(frame, _array(HOST, values), call)
    if (
        last in ("prod", "shape", "ndim", "size", "broadcast_shapes")
        and call.positional
        and call.positional[0].kind in (SHAPE, TREE)
    ):
        return SHAPE_VALUE
    if last in DTYPES or last in TYPES:
        return Value(HOST, 0, 0, None, None, None, 1) if call.positional else UNKNOWN_VALUE
    return _array(HOST, [] if settles(last, call, 1) else values, 0, _size(last, call))


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


@api_call("static")
def static(frame: Frame, dotted: str, last: str, call: Call) -> Value:
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
    return first if first is not None and first.kind in (TREE,) else Value(DEVICE)


@api_call("device_get")
def device_get(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    first = call.argument(0, "x")
    return (
        Value(HOST, 0, first.tags, None, None, first.origin, first.size)
        if first is not None and first.kind == DEVICE
        else UNKNOWN_VALUE
    )


@api_call("identity")
def identity(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    return call.positional[0] if call.positional else UNKNOWN_VALUE


@api_call("treemap")
def tree_map(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """The function is called on leaves: arrays where the tree is traced."""
    from jaxlint.flow.calls import call_value

    function = call.argument(0, "f")
    trees = call.positional[1:]
    result: Value | None = None
    if function is not None and function.kind == API and function.data in TRANSFERS:
        lend(frame, function.data, call, at=1)
    if function is not None:
        leaves = [_leaf(frame, value) for value in trees]
        if "with_path" in last:
            leaves.insert(0, UNKNOWN_VALUE)
        result = call_value(frame, function, Call(call.node, leaves, {}, decorator=True))
        if function.kind == FUNCTION and result.tags & LENGTHENED:
            nodes = call.node.args[1:] if isinstance(call.node, ast.Call) else []
            result = growth.passed_on(result, function.data, nodes)
    if result is None or not trees:
        return UNKNOWN_VALUE
    return upcasts.mapped(frame, dotted, call, _mapped(trees[0], result))


def _mapped(structure: Value, result: Value) -> Value:
    """The tree with what the function gives for each leaf. A member that is not understood may be a tree."""
    members = structure.data if structure.kind == TREE else None
    if members and members.__class__ is list:
        return Value(TREE, 0, 0, [_mapped(member, result) for member in members], None, structure.origin)
    if members and members.__class__ is dict:
        mapped = {key: _mapped(member, result) for key, member in members.items()}
        return Value(TREE, 0, 0, mapped, None, structure.origin)
    if result.kind in (TRACED, PARAMETER):
        return TRACED_PARAMETER
    if result.kind not in (DEVICE, HOST):
        return UNKNOWN_VALUE
    if structure.kind not in (DEVICE, HOST):
        return collection(result)
    kept = result.tags & (SHAPED | LENGTHENED)
    return Value(result.kind, result.varies, kept, None, None, result.origin) if kept else Value(result.kind)


def _leaf(frame: Frame, value: Value) -> Value:
    if value.kind == TREE:
        return element_of(value)
    if value.kind == PARAMETER:
        return TRACED_VALUE
    return value if value.kind != UNKNOWN else UNKNOWN_VALUE


@api_call("apply_updates")
def apply_updates(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """The parameters with the update: the same tree, or object, of other arrays."""
    parameters = call.positional[0] if call.positional else UNKNOWN_VALUE
    if parameters.kind in (INSTANCE, TREE):
        if frame.level:
            parameters = as_traced(parameters, "filter" if dotted.startswith("equinox.") else "jax")
        return parameters.but(tags=parameters.tags | UPDATED)
    return Value(PARAMETER if frame.level else DEVICE, 0, UPDATED)


__all__ = ["BOUNDED", "DEVICE_MASK"]
