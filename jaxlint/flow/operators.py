"""Arithmetic, comparisons, tests and subscripts."""

from __future__ import annotations

import ast

from jaxlint.flow import dtypes, growth, impure, masks, text, traced, weak_types
from jaxlint.flow.frame import Frame, evaluate, expression
from jaxlint.flow.iteration import element_of, picked
from jaxlint.flow.joining import join, join_environments
from jaxlint.flow.kinds import (
    API,
    ARRAYS,
    BOUNDARY,
    CLASS,
    CONCRETE,
    CONSTANT,
    DEVICE,
    FUNCTION,
    HOST,
    INDEXER,
    INSTANCE,
    MODULE,
    NUMBERS,
    PARAMETER,
    SCALAR,
    SHAPE,
    TRACED,
    TRACERS,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.peaks import note_counter
from jaxlint.flow.shapes import is_rounded, repeated, settled_by, sliced, varied_part
from jaxlint.flow.tags import (
    BOOLEAN_MASK,
    BOUNDED,
    CARRIED,
    DATA_SHAPE,
    LOW,
    MEMBER,
    MOVED,
    RAGGED,
    SHAPED,
    SMALL,
    TEXT,
    UPDATED,
)
from jaxlint.flow.values import (
    BOOL_VALUE,
    DEVICE_MASK,
    HOST_MASK,
    PER_CALL,
    PER_ITERATION,
    SHAPE_VALUE,
    TRACED_MASK,
    TRACED_PARAMETER,
    TRACED_VALUE,
    UNKNOWN_VALUE,
    Origin,
    Value,
    collection,
    is_number,
    like,
)

_FOLD = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
}
_FOLD_LIMIT = 1 << 40
MARKS = CARRIED | MOVED
# `np.r_[a, b]`
JOINERS = {"numpy.r_": HOST, "numpy.c_": HOST, "jax.numpy.r_": DEVICE, "jax.numpy.c_": DEVICE}


@expression(ast.BinOp)
def binary(frame: Frame, node: ast.BinOp) -> Value:
    left = evaluate(frame, node.left)
    result = combine(frame, left, evaluate(frame, node.right), node.op, node)
    if result.varies and result.kind in (SCALAR, SHAPE) and is_rounded(node):
        return result.but(tags=result.tags | BOUNDED)
    return result


def combine(frame: Frame, a: Value, b: Value, op: ast.operator, node: ast.AST) -> Value:
    """`a op b`."""
    result = _combine(frame, a, b, op, node)
    if frame.weakly_typed:
        result = weak_types.operation(a, b, op, result)
    return dtypes.combined(a, b, result) if (a.tags | b.tags) & LOW else result


def _combine(frame: Frame, a: Value, b: Value, op: ast.operator, node: ast.AST) -> Value:
    ka, kb = a.kind, b.kind
    if ka == TRACED or kb == TRACED:
        if (a.size == 1 or is_number(a)) and (b.size == 1 or is_number(b)):
            return Value(TRACED, 0, a.tags & b.tags & BOOLEAN_MASK, None, None, None, 1)
        return TRACED_MASK if a.tags & b.tags & BOOLEAN_MASK else TRACED_VALUE
    if ka == PARAMETER or kb == PARAMETER:
        return _with_parameter(a, b, op)
    if ka in CONCRETE or kb in CONCRETE:
        return _product(a, b) if op.__class__ is ast.MatMult else _with_array(a, b)
    if ka in NUMBERS and kb in NUMBERS:
        return _numbers(frame, a, b, op, node)
    if (a.tags | b.tags) & TEXT and (ka == CONSTANT or kb == CONSTANT or a.tags & b.tags & TEXT):
        if op.__class__ is ast.Mod and kb in TRACERS:
            traced.demand(frame, node, b, "format")
        known = _text(frame, a, b, op)
        if known is not None and known.kind == UNKNOWN:
            return known
        varies = max(a.varies, b.varies)
        return Value(UNKNOWN, varies, TEXT | (a.tags | b.tags) & BOUNDED, None, None, a.origin or b.origin)
    if op.__class__ is ast.Mult and TREE in (ka, kb):
        return repeated(frame, a if ka == TREE else b, b if ka == TREE else a, node)
    if ka == SHAPE or kb == SHAPE:
        return _shapes(a, b)
    if ka == TREE and kb == TREE:
        return _concatenated(a, b)
    if ka == UNKNOWN or kb == UNKNOWN:
        varies = max(a.varies, b.varies)
        if (a.tags | b.tags) & RAGGED:
            return (a if a.tags & RAGGED else b).but(varies=varies)
        return Value(UNKNOWN, varies) if varies else UNKNOWN_VALUE
    return UNKNOWN_VALUE


def _text(frame: Frame, a: Value, b: Value, op: ast.operator) -> Value | None:
    """Two texts in one: `__name__ + ".LIMIT"`, `"%s.LIMIT" % __name__`."""
    if op.__class__ is ast.Add:
        return text.put_together(frame, [a, b])
    template = text.spelled(a)
    return text.filled_in(frame, template, "%s", [b]) if template is not None else None


def _with_parameter(a: Value, b: Value, op: ast.operator) -> Value:
    other = b if a.kind == PARAMETER else a
    if other.kind == UNKNOWN and op.__class__ in (ast.Add, ast.Mult, ast.BitOr):
        return UNKNOWN_VALUE  # list + list, list * n, dict | dict
    if other.kind == TREE or (other.kind == CONSTANT and isinstance(other.data, str)) or other.tags & TEXT:
        return UNKNOWN_VALUE
    return TRACED_MASK if a.tags & b.tags & BOOLEAN_MASK else TRACED_VALUE


def _product(a: Value, b: Value) -> Value:
    """`a @ b`: the first axis of the left operand stays, that of the right one is summed over."""
    kind = DEVICE if DEVICE in (a.kind, b.kind) else HOST
    return like(a, kind) if a.tags & SHAPED and not b.tags & SHAPED else Value(kind)


def _with_array(a: Value, b: Value) -> Value:
    tags = (a.tags | b.tags) & SHAPED | (a.tags & b.tags & BOOLEAN_MASK)
    source = a if a.tags & SHAPED else b
    kind = DEVICE if DEVICE in (a.kind, b.kind) else HOST
    if is_number(a) or is_number(b):
        tags |= (a.tags | b.tags) & SMALL
    if not tags & SHAPED:
        return Value(kind, 0, tags, None, None, None, _broadcast(a, b))
    return Value(kind, source.varies, tags, None, None, source.origin, _broadcast(a, b))


def _broadcast(a: Value, b: Value) -> int | None:
    sizes = [1 if v.kind in NUMBERS else v.size for v in (a, b)]
    if sizes[0] is None or sizes[1] is None:
        return None
    if sizes[0] == sizes[1]:
        return sizes[0]
    return sizes[0] * sizes[1]


def _numbers(frame: Frame, a: Value, b: Value, op: ast.operator, node: ast.AST) -> Value:
    if a.kind == b.kind == CONSTANT and not (a.tags | b.tags) & MARKS:
        folded = _fold(a.data, b.data, op)
        if folded is not None:
            return folded
    for side in (a, b):
        if side.kind == CONSTANT and not isinstance(side.data, (int, float)):
            return UNKNOWN_VALUE
    varies = max(a.varies, b.varies)
    origin = a.origin if a.varies >= b.varies else b.origin
    moved = MOVED if (a.tags | b.tags) & MARKS else 0
    if op.__class__ is ast.Mod and b.kind == CONSTANT:
        return Value(SCALAR, varies, BOUNDED, None, None, origin)
    if op.__class__ is ast.FloorDiv and b.kind == CONSTANT and isinstance(b.data, int) and b.data > 1:
        return Value(SCALAR, varies, BOUNDED | moved, None, None, origin)
    bounded = (
        BOUNDED
        if all(v.kind == CONSTANT or v.tags & BOUNDED or not v.varies for v in (a, b)) and varies
        else 0
    )
    return Value(SCALAR, varies, moved | bounded, None, None, origin)


def _fold(a: object, b: object, op: ast.operator) -> Value | None:
    fold = _FOLD.get(op.__class__)
    if isinstance(a, str) or isinstance(b, str):
        return Value(UNKNOWN, 0, TEXT)
    if fold is None or type(a) is not int or type(b) is not int or (op.__class__ is ast.FloorDiv and b == 0):
        return None
    result = fold(a, b)  # type: ignore[no-untyped-call]
    return Value(CONSTANT, data=result) if abs(result) < _FOLD_LIMIT else None


def _shapes(a: Value, b: Value) -> Value:
    varies = max(a.varies, b.varies)
    origin = a.origin if a.varies >= b.varies else b.origin
    if varies >= PER_ITERATION:
        return Value(SCALAR, varies, (a.tags & b.tags) & BOUNDED, None, None, origin)
    return Value(SHAPE, varies, 0, None, None, origin)


def _concatenated(a: Value, b: Value) -> Value:
    if a.data.__class__ is list and b.data.__class__ is list and len(a.data) + len(b.data) <= 16:
        return Value(TREE, max(a.varies, b.varies), 0, [*a.data, *b.data], None, a.origin)
    return collection(join(element_of(a), element_of(b)), a.origin)


@expression(ast.UnaryOp)
def unary(frame: Frame, node: ast.UnaryOp) -> Value:
    value = evaluate(frame, node.operand)
    if node.op.__class__ is ast.Not:
        known = traced.truth(frame, node.operand, value, "not")
        return Value(CONSTANT, data=not known) if known is not None else BOOL_VALUE
    if value.kind == CONSTANT:
        if node.op.__class__ is ast.USub and isinstance(value.data, (int, float)):
            return Value(CONSTANT, data=-value.data)
        return value
    if value.kind == PARAMETER:
        result = TRACED_MASK if value.tags & BOOLEAN_MASK else TRACED_VALUE
        return weak_types.same(value, result) if frame.weakly_typed else result
    return value


@expression(ast.BoolOp)
def boolean(frame: Frame, node: ast.BoolOp) -> Value:
    result: Value | None = None
    is_and = node.op.__class__ is ast.And
    last = len(node.values) - 1
    guards = 0
    for position, item in enumerate(node.values):
        value = evaluate(frame, item)
        if position < last:
            known = traced.truth(frame, item, value, "and/or")
            if known is not None and known is not is_and:
                frame.guard &= ~guards
                return value
            guard = none_guard(frame, item, 1 if is_and else 2)
            if guard and not frame.guard & guard:
                frame.guard |= guard
                guards |= guard
        result = value if result is None else join(result, value)
    frame.guard &= ~guards
    return result or UNKNOWN_VALUE


def none_guard(frame: Frame, test: ast.expr, want: int) -> int:
    """The guard that a test raises on its true (want 1) or false (want 2) side, 0 if none."""
    from jaxlint.flow.guards import guard_of

    return guard_of(frame, test, want == 1)


@expression(ast.Compare)
def comparison(frame: Frame, node: ast.Compare) -> Value:
    left = evaluate(frame, node.left)
    op = node.ops[0].__class__
    right = evaluate(frame, node.comparators[0])
    for other in node.comparators[1:]:
        evaluate(frame, other)
    if op is ast.Is or op is ast.IsNot:
        return _identity(left, right, op is ast.Is)
    if op is ast.In or op is ast.NotIn:
        return _membership(frame, node, left, right)
    for side in (left, right):
        if (side.kind == CONSTANT and not isinstance(side.data, (int, float, complex))) or side.tags & TEXT:
            return BOOL_VALUE
    kinds = {left.kind, right.kind}
    if len(node.ops) > 1 and TRACED in kinds:
        traced.demand(frame, node, TRACED_MASK, "chained comparison")
    if TRACED in kinds:
        return TRACED_MASK
    if PARAMETER in kinds:
        partner = right if left.kind == PARAMETER else left
        proven = partner.kind in (CONSTANT, SCALAR, SHAPE, HOST, PARAMETER)
        return TRACED_MASK if proven else UNKNOWN_VALUE
    if DEVICE in kinds:
        return DEVICE_MASK
    if HOST in kinds:
        return HOST_MASK
    return BOOL_VALUE


def _identity(left: Value, right: Value, is_: bool) -> Value:
    if right.kind == CONSTANT and right.data is None:
        if left.kind == CONSTANT:
            return Value(CONSTANT, data=(left.data is None) == is_)
        if left.kind in (TRACED, DEVICE, HOST, FUNCTION, BOUNDARY, CLASS, INSTANCE, MODULE, TREE, SHAPE):
            return Value(CONSTANT, data=not is_)
    return BOOL_VALUE


def _membership(frame: Frame, node: ast.Compare, left: Value, right: Value) -> Value:
    if right.kind == TRACED or (
        left.kind == TRACED and right.kind == TREE and right.data.__class__ is not dict
    ):
        traced.demand(frame, node, TRACED_MASK, "in")
    if right.kind == API and frame.level:
        impure.environment(frame, node, right, left)
    return BOOL_VALUE


@expression(ast.IfExp)
def conditional(frame: Frame, node: ast.IfExp) -> Value:
    known = traced.truth(frame, node.test, evaluate(frame, node.test), "if")
    if known is not None:
        return evaluate(frame, node.body if known else node.orelse)
    # The arms are alternatives: what one does to the environment the other does not see.
    base = frame.names
    frame.names = dict(base)
    body = _guarded(frame, node.body, none_guard(frame, node.test, 1))
    after_body, frame.names = frame.names, base
    orelse = _guarded(frame, node.orelse, none_guard(frame, node.test, 2))
    frame.names = join_environments(frame.names, after_body) or base
    return join(body, orelse)


def _guarded(frame: Frame, node: ast.expr, guard: int) -> Value:
    before = frame.guard
    frame.guard |= guard
    value = evaluate(frame, node)
    frame.guard = before
    return value


def _is_other_axis(origin: Origin | None, index: ast.expr) -> bool:
    """`x[mask].shape[1]`, `x[mask].shape[1:]`: a mask by itself changes the length of the first axis alone."""
    mask = origin.node if origin is not None and origin.word == "boolean mask" else None
    if not isinstance(mask, ast.Subscript) or isinstance(mask.slice, ast.Tuple):
        return False
    first = index.lower if isinstance(index, ast.Slice) else index
    if isinstance(first, ast.UnaryOp):
        return isinstance(first.op, ast.USub) and not isinstance(index, ast.Slice)  # `shape[-1]`
    return isinstance(first, ast.Constant) and type(first.value) is int and first.value > 0


@expression(ast.Subscript)
def subscript(frame: Frame, node: ast.Subscript) -> Value:
    base = evaluate(frame, node.value)
    index = evaluate(frame, node.slice)
    kind = base.kind
    if kind == UNKNOWN:
        if frame.level:
            traced.slice_bounds(frame, base, node.slice)
        note_counter(frame, node, index)
        cut = sliced(frame, node.slice)
        if cut is not None:
            return Value(UNKNOWN, cut.varies, cut.tags, None, None, cut.origin)
        if base.tags & RAGGED and index.kind == CONSTANT and isinstance(index.data, str):
            return base  # a column
        if (
            index.kind in CONCRETE and index.tags & SHAPED == RAGGED
        ):  # only an array takes one, and gives as many
            return Value(UNKNOWN, index.varies, RAGGED, None, None, index.origin)
        varies = max(base.varies, index.varies)
        return Value(UNKNOWN, varies) if varies else UNKNOWN_VALUE
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
        if frame.level:
            impure.environment(frame, node, base, index)
        elif base.data in JOINERS:
            parts_of = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return growth.joined(frame, Value(JOINERS[base.data]), parts_of, node)
        if base.data == "sys.modules" and isinstance(node.slice, ast.Name) and node.slice.id == "__name__":
            return Value(MODULE, data=frame.module)
        return base if base.data.startswith("typing") else UNKNOWN_VALUE
    return UNKNOWN_VALUE


def _of_array(frame: Frame, node: ast.Subscript, base: Value, index: Value) -> Value:
    kind = base.kind
    traced.slice_bounds(frame, base, node.slice)
    mask = masks.mask_in(index)
    if mask is not None:
        if traced.is_mask(frame, mask) and kind in (*TRACERS, DEVICE):
            traced.data_shape(frame, node, "", "mask read", mask)
            return Value(TRACED, 0, DATA_SHAPE)
        if kind in CONCRETE and mask.kind in CONCRETE:
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
    # One member of an array has the same shape whichever it is, and so have those at given indices.
    one = is_number(index) or index.kind in ARRAYS
    kept = BOOLEAN_MASK if one else SHAPED | BOOLEAN_MASK
    tags = base.tags & kept
    if kind == HOST and index.kind in (CONSTANT, SCALAR, SHAPE):
        tags |= MEMBER
    if not tags & SHAPED:
        return Value(kind, 0, tags, None, None, None, base.size)
    return Value(kind, base.varies, tags, None, None, base.origin, base.size)


def _of_tree(frame: Frame, node: ast.Subscript, base: Value, index: Value) -> Value:
    if isinstance(node.slice, ast.Slice):
        if index.kind == TRACED:
            return element_of(base)
        cut = sliced(frame, node.slice)
        if cut is not None:
            return Value(TREE, cut.varies, cut.tags, None, element_of(base), cut.origin or base.origin)
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
    if index.varies >= PER_ITERATION and base.data.__class__ is not dict and _is_sequence(base):
        return picked(element, Origin(frame.module, node, "list element"))
    return element


def _is_sequence(container: Value) -> bool:
    """A list or a tuple; what a dict holds was sorted by its keys, of which there may be few."""
    return container.origin is not None and container.origin.word in ("list", "tuple", "generator")


@expression(ast.Slice)
def slice_(frame: Frame, node: ast.Slice) -> Value:
    for bound in (node.lower, node.upper, node.step):
        if bound is not None:
            evaluate(frame, bound)
    return Value(UNKNOWN, 0, 0, None, None, Origin(frame.module, node, "slice"))


__all__ = ["HOST_MASK", "PER_CALL", "TRACED_PARAMETER", "combine"]
