"""Subscripts: what an index, a mask, a key or a slice takes out of arrays, shapes and containers."""

from __future__ import annotations

import ast

from jaxlint.flow.calls.dispatch import call_value
from jaxlint.flow.config.configuration import device_use
from jaxlint.flow.device_memory.peaks import note_counter
from jaxlint.flow.domain.classes import ClassInfo
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import (
    API,
    ARRAYS,
    CONCRETE,
    CONSTANT,
    DEVICE,
    HOST,
    INDEXER,
    INSTANCE,
    MODULE,
    PARAMETER,
    SCALAR,
    SHAPE,
    TRACED,
    TRACERS,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.tags import BOOLEAN_MASK, BOUNDED, DATA_SHAPE, LOW, MEMBER, RAGGED, SHAPED, UPDATED
from jaxlint.flow.domain.values import (
    PER_CALL,
    PER_ITERATION,
    SHAPE_VALUE,
    TRACED_VALUE,
    UNKNOWN_VALUE,
    Origin,
    Value,
    collection,
    is_number,
    tree,
)
from jaxlint.flow.expressions.attributes import bound_method
from jaxlint.flow.frame import Call, Frame, evaluate, expression
from jaxlint.flow.precision import dtypes, weak_types
from jaxlint.flow.retrace import growth
from jaxlint.flow.retrace.settled import is_settled
from jaxlint.flow.shapes import text_lengths
from jaxlint.flow.shapes.made_sizes import Moving
from jaxlint.flow.shapes.slices import settled_by, sliced
from jaxlint.flow.shapes.varied_shapes import varied_part
from jaxlint.flow.statements.iteration import element_of, picked
from jaxlint.flow.trace import impure, masks, traced

# `np.r_[a, b]`
_JOINERS = {"numpy.r_": HOST, "numpy.c_": HOST, "jax.numpy.r_": DEVICE, "jax.numpy.c_": DEVICE}
_GRIDS = frozenset({"jax.numpy.mgrid", "jax.numpy.ogrid"})


@expression(ast.Subscript)
def subscript(frame: Frame, node: ast.Subscript) -> Value:
    base = evaluate(frame, node.value)
    index = evaluate(frame, node.slice)
    kind = base.kind
    if kind == UNKNOWN:
        return _of_unknown(frame, node, base, index)
    if kind == INDEXER:
        traced.slice_bounds(frame, base.data, node.slice)
        mask = masks.mask_in(index)
        if mask is not None and traced.is_mask(frame, mask) and base.data.kind in (*TRACERS, DEVICE):
            traced.data_shape(frame, node, "", "mask write", mask)
        return base.data if base.data.kind in ARRAYS else UNKNOWN_VALUE
    if kind in ARRAYS:
        member = _of_array(frame, node, base, index)
        return weak_types.same(base, member) if frame.weakly_typed else member
    if kind == TREE:
        return _of_tree(frame, node, base, index)
    if kind == SHAPE:
        moves = base.varies and not _is_other_axis(base.origin, node.slice)
        return Value(SHAPE, base.varies, 0, None, None, base.origin) if moves else SHAPE_VALUE
    if kind == MODULE and index.kind == CONSTANT and isinstance(index.data, str):  # `globals()["LIMIT"]`
        return frame.run.program.member(base.data.entry, index.data)
    if kind == API:
        return _of_library_name(frame, node, base, index)
    method = _lookup(base.data.cls) if kind == INSTANCE else None
    if method is not None:
        return call_value(frame, bound_method(frame, method, base, node), Call(node, [index], {}))
    return UNKNOWN_VALUE


def _lookup(cls: ClassInfo) -> Function | None:
    """What a subscript of an object calls: of a dict, what is done where it has no such key."""
    return cls.lookup("__getitem__") or cls.lookup("__missing__")


def _of_unknown(frame: Frame, node: ast.Subscript, base: Value, index: Value) -> Value:
    if frame.level:
        traced.slice_bounds(frame, base, node.slice)
    note_counter(frame, node, index)
    if base.tags & LOW:
        return dtypes.member(base)
    rest = text_lengths.cut(base, node.slice)
    if rest is not None:
        return rest
    cut = sliced(frame, node.slice)
    if cut is not None:
        return Value(UNKNOWN, cut.varies, cut.tags, None, None, cut.origin)
    if base.tags & RAGGED and index.kind == CONSTANT and isinstance(index.data, str):
        return base  # a column
    mask = masks.mask_in(index)
    if mask is not None and mask.kind in CONCRETE:
        if is_settled(frame, node.slice):
            return UNKNOWN_VALUE
        varies = PER_ITERATION if frame.loop and not masks.is_fixed(frame, node.slice) else PER_CALL
        return Value(UNKNOWN, varies, DATA_SHAPE, None, None, Origin(frame.module, node, "boolean mask"))
    chosen = varied_part([index]) if index.kind in (*CONCRETE, TREE) else None
    if chosen is not None and chosen.kind in CONCRETE:  # only an array takes one, and gives as many
        return Value(UNKNOWN, chosen.varies, chosen.tags & SHAPED, None, None, chosen.origin)
    varies = max(base.varies, index.varies)
    return Value(UNKNOWN, varies) if varies else UNKNOWN_VALUE


def _of_library_name(frame: Frame, node: ast.Subscript, base: Value, index: Value) -> Value:
    """`os.environ["X"]`, `np.r_[a, b]`, `sys.modules[__name__]`, `typing.List[int]`."""
    if frame.level:
        impure.environment(frame, node, base, index)
    elif base.data in _GRIDS or _JOINERS.get(base.data) == DEVICE:
        device_use(frame, node, base.data)
    if not frame.level and base.data in _JOINERS:
        parts_of = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return growth.joined(frame, Value(_JOINERS[base.data]), parts_of, node)
    if base.data == "sys.modules" and isinstance(node.slice, ast.Name) and node.slice.id == "__name__":
        return Value(MODULE, data=frame.module)
    return base if base.data.startswith("typing") else UNKNOWN_VALUE


def _is_other_axis(origin: Origin | None, index: ast.expr) -> bool:
    """`x[mask].shape[1]`, `x[a:b].shape[1:]`, `ones(len(x)).shape[1:]`, `ones((n, 8)).shape[1]`: a mask, a slice,
    a count by itself or the first of several sizes changes the length of the first axis alone."""
    if origin is None:
        return False
    if isinstance(origin.extra, Moving) and origin.extra.first_only:
        return _leaves_first(index)
    cut = origin.node
    masked = isinstance(cut, ast.Subscript) and origin.word == "boolean mask"
    counted = isinstance(cut, ast.Call) and isinstance(cut.func, ast.Name) and cut.func.id == "len"
    first_only = not isinstance(cut.slice, ast.Tuple) if masked else counted or isinstance(cut, ast.Slice)  # type: ignore[attr-defined]  # a subscript if masked
    return first_only and _leaves_first(index)


def _leaves_first(index: ast.expr) -> bool:
    """`shape[1:]`, `shape[1]`, `shape[-1]`."""
    first = index.lower if isinstance(index, ast.Slice) else index
    if isinstance(first, ast.UnaryOp):
        return isinstance(first.op, ast.USub) and not isinstance(index, ast.Slice)  # `shape[-1]`
    return isinstance(first, ast.Constant) and type(first.value) is int and first.value > 0


def _of_array(frame: Frame, node: ast.Subscript, base: Value, index: Value) -> Value:
    kind = base.kind
    traced.slice_bounds(frame, base, node.slice)
    mask = masks.mask_in(index)
    if mask is not None:
        if traced.is_mask(frame, mask) and kind in (*TRACERS, DEVICE):
            traced.data_shape(frame, node, "", "mask read", mask)
            return Value(TRACED, 0, DATA_SHAPE)
        if kind in CONCRETE and mask.kind in CONCRETE:
            if is_settled(frame, node.slice):
                return Value(kind, 0, base.tags & BOOLEAN_MASK)
            origin = Origin(frame.module, node, "boolean mask")
            varies = PER_ITERATION if frame.loop and not masks.is_fixed(frame, node.slice) else PER_CALL
            return Value(kind, varies, DATA_SHAPE | base.tags & BOOLEAN_MASK, None, None, origin)
    if kind == HOST and frame.level and traced.contains_tracer([index]):
        traced.numpy_index(frame, node, traced.first_tracer(index), "index")
        return TRACED_VALUE
    if base.tags & LOW:
        return dtypes.member(base)
    if kind == PARAMETER:
        return Value(PARAMETER, 0, base.tags & UPDATED)
    chosen = varied_part([index])
    if chosen is not None and index.kind in (*ARRAYS, TREE):
        return Value(kind, chosen.varies, chosen.tags & SHAPED, None, None, chosen.origin)
    cut = sliced(frame, node.slice) if kind in CONCRETE else None
    if cut is not None and cut.tags & RAGGED:
        return Value(kind, cut.varies, RAGGED | base.tags & DATA_SHAPE, None, None, cut.origin, base.size)
    if base.tags & SHAPED and settled_by(node.slice):
        return Value(kind, 0, base.tags & BOOLEAN_MASK, None, None, None, base.size)
    size = base.size if _keeps_axes(node.slice) else None
    # One member of an array has the same shape whichever it is, and so have those at given indices.
    one = is_number(index) or index.kind in ARRAYS
    kept = BOOLEAN_MASK if one else SHAPED | BOOLEAN_MASK
    tags = base.tags & kept
    if kind == HOST and index.kind in (CONSTANT, SCALAR, SHAPE):
        tags |= MEMBER
    if not tags & SHAPED:
        return Value(kind, 0, tags, None, None, None, size)
    return Value(kind, base.varies, tags, None, None, base.origin, size)


def _keeps_axes(index: ast.expr) -> bool:
    """A new axis, `x[:, None]`, is there to be spread over."""
    items = index.elts if isinstance(index, ast.Tuple) else [index]
    return not any(isinstance(item, ast.Constant) and item.value is None for item in items)


def _of_tree(frame: Frame, node: ast.Subscript, base: Value, index: Value) -> Value:
    if isinstance(node.slice, ast.Slice):
        if index.kind == TRACED:
            return element_of(base)
        cut = sliced(frame, node.slice)
        if cut is not None:
            return Value(TREE, cut.varies, cut.tags, None, element_of(base), cut.origin or base.origin)
        if _is_exact(base, node.slice):
            low, high = (end and ast.literal_eval(end) for end in (node.slice.lower, node.slice.upper))
            return tree(base.data[low:high], base.origin)
        return collection(element_of(base), base.origin)
    if index.kind == CONSTANT and base.data is not None:
        if (
            base.data.__class__ is list
            and isinstance(index.data, int)
            and -len(base.data) <= index.data < len(base.data)
        ):
            found: Value = base.data[index.data]
            return found
        if base.data.__class__ is dict and index.data in base.data:
            known: Value = base.data[index.data]
            return known
    if index.kind == TRACED and base.data.__class__ is list:
        traced.demand(frame, node, index, "index")
    element = element_of(base)
    if index.varies >= PER_ITERATION and element.kind in (CONSTANT, SCALAR):
        return Value(
            SCALAR,
            PER_ITERATION,
            index.tags & BOUNDED,
            None,
            None,
            Origin(frame.module, node, "list element"),
        )
    apart = _is_sequence(base) or (element.kind == TREE and element.tags & RAGGED)
    if index.varies >= PER_ITERATION and base.data.__class__ is not dict and apart:
        return picked(element, Origin(frame.module, node, "list element"))
    return element


def _is_exact(base: Value, cut: ast.Slice) -> bool:
    """`words[1:]`, of a sequence of texts that are all known."""
    known = base.data.__class__ is list and all(
        v.kind == CONSTANT and isinstance(v.data, str) for v in base.data
    )
    ends = (cut.lower, cut.upper)
    numbers = all(end is None or (isinstance(end, ast.Constant) and type(end.value) is int) for end in ends)
    return known and numbers and cut.step is None


def _is_sequence(container: Value) -> bool:
    """A list or a tuple; what a dict holds was sorted by its keys, of which there may be few."""
    return container.origin is not None and container.origin.word in ("list", "tuple", "generator")


@expression(ast.Slice)
def slice_(frame: Frame, node: ast.Slice) -> Value:
    for bound in (node.lower, node.upper, node.step):
        if bound is not None:
            evaluate(frame, bound)
    return Value(UNKNOWN, 0, 0, None, None, Origin(frame.module, node, "slice"))
