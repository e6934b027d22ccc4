"""Methods of arrays, containers and other values that are no objects of the project."""

from __future__ import annotations

from jaxlint.flow.boundaries.clearing import note_clearing
from jaxlint.flow.boundaries.escaping import escape
from jaxlint.flow.calls.array_results import data_shaped, is_data_shaped_method, is_tracer
from jaxlint.flow.calls.ordering import ask_for_order
from jaxlint.flow.domain import text
from jaxlint.flow.domain.joining import join
from jaxlint.flow.domain.kinds import (
    ARRAYS,
    BOUNDARY,
    CLASS,
    CONCRETE,
    CONSTANT,
    DEVICE,
    HOST,
    INDEXER,
    INSTANCE,
    PARAMETER,
    SCALAR,
    SHAPE,
    TRACED,
    TRACERS,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.tags import BOOLEAN_MASK, COPIED, DATA_SHAPE
from jaxlint.flow.domain.values import (
    NONE,
    PER_CALL,
    PER_ITERATION,
    SHAPE_VALUE,
    TRACED_PARAMETER,
    TRACED_VALUE,
    UNKNOWN_VALUE,
    Origin,
    Value,
    collection,
    is_number,
    like,
    tree,
)
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.host_memory.copied import of_method
from jaxlint.flow.host_memory.dict_caches import note_setdefault
from jaxlint.flow.host_memory.keeping import note_append
from jaxlint.flow.retrace.optional import keys_stored
from jaxlint.flow.shapes.text_lengths import joined
from jaxlint.flow.shapes.varied_shapes import settles
from jaxlint.flow.statements.assignment import add_member
from jaxlint.flow.statements.iteration import element_of
from jaxlint.flow.trace import traced
from jaxlint.jax_api.arrays import ARRAY_METHODS, HOST_METHODS, INDEXER_METHODS, REDUCTIONS
from jaxlint.jax_api.transforms import VMAP

_MASKS = frozenset({"any", "all"})
_ON_DEVICE = TRACERS | {DEVICE}


def call_method(frame: Frame, receiver: Value, name: str, call: Call) -> Value:
    """`receiver.name(…)` where the receiver is known and the attribute is not a function of the project."""
    kind = receiver.kind
    if kind in _ON_DEVICE and is_data_shaped_method(name, receiver, call, frame.level):
        return _of_traced_shape(frame, receiver, name, call)
    if kind in TRACERS:
        return _of_tracer(frame, receiver, name, call)
    if kind in CONCRETE:
        return _of_array(frame, receiver, name, call)
    if kind == INDEXER:
        return _of_indexer(receiver, name)
    if kind == TREE:
        return _of_container(frame, receiver, name, call)
    for value in call.values():
        if value.kind == BOUNDARY:
            value.data.escapes = True
    if kind == BOUNDARY and name == "clear_cache":
        note_clearing(frame, call, "clear_cache", receiver.data)
    if name == "setdefault":
        note_setdefault(frame, call)
    else:
        note_append(frame, name, call)
    if kind == SHAPE:
        return SHAPE_VALUE
    if kind == SCALAR or (kind == CONSTANT and isinstance(receiver.data, (int, float))):
        return receiver if name in ("bit_length", "conjugate") else UNKNOWN_VALUE
    if kind == CONSTANT and isinstance(receiver.data, str):
        return _of_text(frame, receiver.data, name, call)
    if kind == INSTANCE or kind == CLASS:
        from jaxlint.flow.calls.instances import library_method

        return library_method(frame, receiver, name, call)
    return UNKNOWN_VALUE


def _of_text(frame: Frame, content: str, name: str, call: Call) -> Value:
    first = call.positional[0] if call.positional else UNKNOWN_VALUE
    known = text.of_known(frame, content, name, call)
    if known is not None:
        return known
    if name == "format" and not call.keywords:
        known = text.filled_in(frame, content, "{}", call.positional)
    elif name == "join" and first.kind == TREE and first.data.__class__ is list:
        known = text.put_together(frame, first.data, content)
    if name == "join" and known is None:
        return joined(frame, content, first, call.node)
    return known if known is not None and known.kind == UNKNOWN else UNKNOWN_VALUE


def _of_tracer(frame: Frame, receiver: Value, name: str, call: Call) -> Value:
    if receiver.kind == TRACED and name in ("item", "tolist"):
        traced.demand(frame, call.node, receiver, f".{name}()")
        return UNKNOWN_VALUE
    if name == "reshape":
        for position, value in enumerate(call.positional):
            traced.size(frame, call.argument_node(position), value, ".reshape", "shape")
    if name in REDUCTIONS and not call.positional and "axis" not in call.keywords:
        return Value(TRACED, 0, 0, None, None, None, 1)
    if name in ARRAY_METHODS:
        if receiver.kind == TRACED and name in ("astype",) and receiver.tags & BOOLEAN_MASK:
            return TRACED_VALUE
        one = name in ("astype", "squeeze", "item", "clip") and receiver.size == 1
        return Value(TRACED, 0, 0, None, None, None, 1) if one else TRACED_VALUE
    if receiver.kind == TRACED and name in INDEXER_METHODS:
        return TRACED_VALUE  # of `x.at[…]`, which stands for x
    if receiver.kind == PARAMETER:
        if name == "items":
            return collection(tree([UNKNOWN_VALUE, TRACED_PARAMETER]))
        if name == "keys":
            return UNKNOWN_VALUE
        if name == "values":
            return collection(TRACED_PARAMETER)
        return TRACED_PARAMETER if name in ("get", "pop", "copy", "set", "add") else UNKNOWN_VALUE
    return UNKNOWN_VALUE


def _of_traced_shape(frame: Frame, receiver: Value, name: str, call: Call) -> Value:
    """`x.nonzero()`, `x.repeat(counts)`, `x.compress(mask)`, which no trace can give a shape."""
    subject = call.argument(0, "repeats", "condition") or receiver
    traced.data_shape(frame, call.node, f".{name}", "call", subject)
    array = Value(TRACED, 0, DATA_SHAPE)
    return collection(array) if name == "nonzero" else array


def _numbers(table: Value) -> list[Value]:
    """The values of a dict that holds constant numbers alone."""
    values = list(table.data.values()) if table.data.__class__ is dict else []
    return values if all(is_number(value) and value.kind == CONSTANT for value in values) else []


def _takes_tracer(frame: Frame, name: str, call: Call) -> bool:
    """Whether a method of a numpy array is handed a tracer, which is reported."""
    if frame.level < VMAP:
        return False
    given = [(call.argument_node(position), value) for position, value in enumerate(call.positional)]
    given += [(call.argument_node(99, word), value) for word, value in call.keywords.items()]
    for node, value in given:
        if is_tracer(value, frame.level):
            traced.numpy_method(frame, call.node, name, node or call.node, value)
            return True
    return False


def _of_array(frame: Frame, receiver: Value, name: str, call: Call) -> Value:
    kind = receiver.kind
    if kind == HOST and name in HOST_METHODS and _takes_tracer(frame, name, call):
        return TRACED_VALUE
    if name == "item":
        origin = Origin(frame.module, call.node, "item")
        return Value(SCALAR, PER_ITERATION if frame.loop else PER_CALL, 0, None, None, origin)
    if name == "tolist" and receiver.element is not None:
        return receiver.but(kind=TREE)
    if name == "tolist":
        origin = Origin(frame.module, call.node, "list element")
        return collection(Value(SCALAR, PER_CALL, 0, None, None, origin), origin)
    if name == "nonzero":
        return data_shaped(frame, kind, name, call)
    if name in REDUCTIONS and not call.positional and "axis" not in call.keywords:
        return Value(kind, 0, 0, None, None, None, 1)
    if name in _MASKS or settles(name, call, 0):
        return Value(kind)
    if name in ARRAY_METHODS or name in INDEXER_METHODS:
        return of_method(receiver, name, like(receiver)) if receiver.tags & COPIED else like(receiver)
    return UNKNOWN_VALUE


def _of_indexer(receiver: Value, name: str) -> Value:
    base: Value = receiver.data
    if name in INDEXER_METHODS and base.kind in ARRAYS:
        return TRACED_VALUE if base.kind in TRACERS else Value(DEVICE, 0, 0, None, None, None, base.size)
    return UNKNOWN_VALUE


def _of_container(frame: Frame, receiver: Value, name: str, call: Call) -> Value:
    for value in call.values():
        escape(value)
    note_append(frame, name, call)
    if name == "sort":
        ask_for_order(frame, ".sort", [receiver], call)
        return NONE
    if name in ("append", "add", "appendleft") and call.positional:
        add_member(receiver, call.positional[0])
        return NONE
    if receiver.data.__class__ is dict and name == "update" and call.keywords:
        keys_stored(frame, receiver, call.keywords, call.node)
        known = receiver.data
        known.update({k: join(known[k], v) if k in known else v for k, v in call.keywords.items()})
        return NONE
    if name in ("extend", "update", "insert") and call.positional:
        add_member(receiver, element_of(call.positional[-1]) if name != "insert" else call.positional[-1])
        return NONE
    if name == "items":
        rows = [tree([UNKNOWN_VALUE, value]) for value in _numbers(receiver)]
        return tree(rows) if rows else collection(tree([UNKNOWN_VALUE, element_of(receiver)]))
    if name == "values":
        numbers = _numbers(receiver)
        return tree(numbers) if numbers else collection(element_of(receiver))
    if name == "setdefault":
        note_setdefault(frame, call)
    if name in ("get", "pop", "setdefault") and call.positional:
        key = call.positional[0]
        if receiver.data.__class__ is dict and key.kind == CONSTANT and key.data in receiver.data:
            found: Value = receiver.data[key.data]
            return found
        member = element_of(receiver)
        if len(call.positional) > 1:
            return join(member, call.positional[1])
        return join(member, NONE) if name == "get" else member  # nothing may be there
    if name in ("pop", "popleft"):
        return element_of(receiver)
    if name == "copy":
        data = receiver.data.copy() if receiver.data is not None else None
        return Value(TREE, receiver.varies, receiver.tags, data, receiver.element, receiver.origin)
    return UNKNOWN_VALUE
