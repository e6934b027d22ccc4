"""Shapes that are not the same each time: what makes them so, and what takes that away again."""

from __future__ import annotations

import ast
from typing import NamedTuple

from jaxlint.flow.bindings import bindings_of, look
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.joining import join_all
from jaxlint.flow.kinds import CONCRETE, CONSTANT, SCALAR, SHAPE, TREE, UNKNOWN
from jaxlint.flow.origin_words import DRAWN, LEN_OF_ANOTHER
from jaxlint.flow.tags import BOUNDED, EVEN, RAGGED, SHAPED
from jaxlint.flow.values import PER_ITERATION, Origin, Value, collection, parts
from jaxlint.flow.walking import walk
from jaxlint.flow.widths import Width, width
from jaxlint.jax_api.arrays import OWN_SHAPE, REDUCTIONS

# Words for why a shape varies, as `Operand.origin_kind`.
BOUND, SIZE, LENGTH, FEW = "slice bound", "size", "list length", "few sizes"
PARTIAL, PERHAPS_PARTIAL = "last partial batch", "possibly partial batch"


class Movement(NamedTuple):
    """How a number changes, and whether it takes a few values only."""

    varies: int
    few: bool


def movement(frame: Frame, node: ast.AST | None, value: Value) -> Movement | None:
    """How a number that sets a size changes from one time to the next; None for one that does not."""
    if value.tags & EVEN or (value.origin is not None and value.origin.word == LEN_OF_ANOTHER):
        return None
    few = bool(value.tags & BOUNDED) or _takes_few(frame, node, value)
    if value.kind == UNKNOWN and value.varies >= PER_ITERATION and _of_loop(frame, node):
        return Movement(value.varies, few)  # a bound or a size is a number, whatever it comes from
    if value.kind in (SCALAR, SHAPE):
        drawn = value.origin is not None and value.origin.word in DRAWN
        if value.varies >= PER_ITERATION or (value.varies and drawn):
            return Movement(value.varies, few)
    elif value.kind in CONCRETE and value.varies >= PER_ITERATION:
        return Movement(PER_ITERATION, few)
    elif value.kind in CONCRETE and isinstance(node, ast.Subscript):  # `lengths[i]`
        return movement(frame, None, look(frame, node.slice))
    return None


def _of_loop(frame: Frame, node: ast.AST | None) -> bool:
    """Whether an expression is made of the variable of a loop around."""
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} if node is not None else set()
    targets = [loop.node.target for loop in frame.loops if not isinstance(loop.node, ast.While)]  # type: ignore[attr-defined]
    for comprehension in frame.comprehensions:
        targets += [g.target for g in comprehension.generators]  # type: ignore[attr-defined]
    return any(n.id in names for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))


def _takes_few(frame: Frame, node: ast.AST | None, value: Value) -> bool:
    """`2**k`, a number that is doubled or halved each time, a length rounded up to a multiple of something."""
    if isinstance(node, ast.expr) and is_rounded(_resolved(frame, node)):
        return True
    made = value.origin.node if value.origin is not None else None
    return isinstance(made, ast.AugAssign) and isinstance(
        made.op, (ast.Mult, ast.FloorDiv, ast.LShift, ast.RShift)
    )


def is_rounded(node: ast.expr) -> bool:
    """`1 << k`, `ceil(n / 8) * 8`, `n + -n % 8`."""
    while isinstance(node, ast.Call) and _called(node) == "int" and len(node.args) == 1:
        node = node.args[0]
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, (ast.Pow, ast.LShift)):
        return isinstance(node.left, ast.Constant) and type(node.left.value) is int
    sides = [part for side in (node.left, node.right) for part in walk(side)]
    if isinstance(node.op, ast.Mult):
        return any(
            isinstance(part, ast.BinOp) and isinstance(part.op, ast.FloorDiv) for part in sides
        ) or any(isinstance(part, ast.Call) and _called(part) == "ceil" for part in sides)
    return isinstance(node.op, (ast.Add, ast.Sub)) and any(
        isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in sides
    )


# ---------------------------------------------------------------- slices


def sliced(frame: Frame, index: ast.expr) -> Value | None:
    """What a slice makes of a shape: ragged, with why and how it varies; even, where `[i * size : (i + 1) * size]`
    takes another part of one length each time; None where nothing moves."""
    if frame.level:
        return None  # a slice of traced code is part of its trace
    if not isinstance(index, ast.Tuple):
        return _slice(frame, index) if isinstance(index, ast.Slice) else None
    found = (_slice(frame, item) for item in index.elts if isinstance(item, ast.Slice))
    return next((cut for cut in found if cut is not None and cut.tags & RAGGED), None)


def _slice(frame: Frame, item: ast.Slice) -> Value | None:
    bounds = [bound for bound in (item.lower, item.upper) if bound is not None]
    moving = [m for bound in bounds if (m := movement(frame, bound, look(frame, bound))) is not None]
    if not moving:
        return None
    varies = max(m.varies for m in moving)
    few = len(moving) == 1 and moving[0].few
    if item.lower is None or item.upper is None:
        return _ragged(frame, item, FEW if few else BOUND, varies)
    between = width(frame, item.lower, item.upper)
    if any(movement(frame, node, look(frame, node)) for node in between.nodes()):
        return _ragged(frame, item, FEW if few else BOUND, varies)
    word = _batch(frame, item.lower, between)
    return _ragged(frame, item, word, PER_ITERATION) if word else Value(SHAPE, PER_ITERATION, EVEN)


def names_stretch(frame: Frame, node: ast.expr) -> bool:
    """Whether an expression, or what its name was bound to, is another part of one length each time."""
    made = _resolved(frame, node)
    cut = sliced(frame, made.slice) if isinstance(made, ast.Subscript) else None
    return cut is not None and bool(cut.tags & EVEN)


def _ragged(frame: Frame, node: ast.AST, word: str, varies: int) -> Value:
    return Value(SHAPE, varies, RAGGED, None, None, Origin(frame.module, node, word))


def settled_by(index: ast.expr) -> bool:
    """`x[:k]` and `x[-k:]` have one length, whatever that of `x` is, once there are so many."""
    first = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
    if not isinstance(first, ast.Slice):
        return False
    from_end = isinstance(first.lower, ast.UnaryOp) and isinstance(first.lower.op, ast.USub)
    to_end = isinstance(first.upper, ast.UnaryOp) and isinstance(first.upper.op, ast.USub)
    return (first.upper is not None and not to_end) or (from_end and first.upper is None)


# ---------------------------------------------------------------- the last batch


def _batch(frame: Frame, lower: ast.expr, between: Width) -> str:
    """Whether a slice of one width may be cut short by the end of the data: a word for it, or ""."""
    for comprehension in reversed(frame.comprehensions):
        for generator in comprehension.generators:  # type: ignore[attr-defined]  # every comprehension has them
            ends = _for_ends(frame, generator, lower, between)
            if ends is not None:
                return ends
    for loop in reversed(frame.loops):
        is_while = isinstance(loop.node, ast.While)
        ends = (_while_ends if is_while else _for_ends)(frame, loop.node, lower, between)  # type: ignore[arg-type]
        if ends is not None:
            return "" if _asks_length(loop.node) else ends
    return ""


def _for_ends(frame: Frame, loop: ast.For | ast.comprehension, lower: ast.expr, between: Width) -> str | None:
    """The verdict on `for start in range(0, n, size)` and `for i in range(n_batches)`; None for another loop."""
    call = loop.iter
    while isinstance(call, ast.Call) and _called(call) in ("tqdm", "enumerate", "track") and call.args:
        call = call.args[0]
    target = loop.target.elts[-1] if isinstance(loop.target, ast.Tuple) else loop.target
    if not isinstance(call, ast.Call) or _called(call) not in ("range", "trange") or not call.args:
        return None
    if not isinstance(target, ast.Name):
        return None
    start = width(frame, ast.Constant(0), lower)
    if len(call.args) == 3 and start.is_name(target.id):
        step = width(frame, ast.Constant(0), call.args[2])
        return _remainder(frame, call.args[1], call.args[2]) if step.terms == between.terms else None
    if len(call.args) == 1 and start.is_product(target.id, between):
        return PERHAPS_PARTIAL if _rounds_up(frame, call.args[0]) else ""
    return None


def _while_ends(frame: Frame, loop: ast.While, lower: ast.expr, between: Width) -> str | None:
    """The verdict on `while start < n: … start += size`."""
    test = loop.test
    if not (isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and len(test.ops) == 1):
        return None
    name = test.left.id
    if not isinstance(test.ops[0], ast.Lt) or not width(frame, ast.Constant(0), lower).is_name(name):
        return None
    steps = [
        n.value for n in loop.body if isinstance(n, ast.AugAssign) and getattr(n.target, "id", "") == name
    ]
    if len(steps) == 1 and width(frame, ast.Constant(0), steps[0]).terms == between.terms:
        return _remainder(frame, test.comparators[0], steps[0])
    return None


def _remainder(frame: Frame, stop: ast.expr, step: ast.expr) -> str:
    """What is left behind the last full batch."""
    end, size = look(frame, stop), look(frame, step)
    if end.kind == CONSTANT and size.kind == CONSTANT and type(end.data) is type(size.data) is int:
        return PARTIAL if size.data > 0 and end.data % size.data else ""
    resolved = _resolved(frame, stop)
    whole = (ast.Sub, ast.FloorDiv, ast.Mod, ast.Mult)
    if any(isinstance(n, ast.BinOp) and isinstance(n.op, whole) for n in walk(resolved)):
        return ""  # full batches only
    return PERHAPS_PARTIAL


def _rounds_up(frame: Frame, count: ast.expr) -> bool:
    """`ceil(n / size)`, `-(-n // size)`, `(n + size - 1) // size`, `n // size + 1`."""
    node = _resolved(frame, count)
    if isinstance(node, ast.Call):
        inner = node.args[0] if _called(node) == "int" and node.args else node
        return isinstance(inner, ast.Call) and _called(inner) == "ceil"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return isinstance(node.operand, ast.BinOp) and isinstance(node.operand.op, ast.FloorDiv)
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, ast.FloorDiv):
        return isinstance(node.left, ast.BinOp) and isinstance(node.left.op, (ast.Add, ast.Sub))
    return isinstance(node.op, ast.Add) and isinstance(node.left, ast.BinOp)


def _resolved(frame: Frame, node: ast.expr) -> ast.expr:
    """What a name was bound to, where that is one expression."""
    bound = bindings_of(frame).of(node.id) if isinstance(node, ast.Name) else []
    return bound[0] if len(bound) == 1 else node


def _called(call: ast.Call) -> str:
    callee = call.func
    return callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", "")


def _asks_length(loop: ast.AST) -> bool:
    """Whether the loop tests the length of something: it treats the last batch in a way of its own."""
    tests = [node.test for node in walk(loop) if isinstance(node, (ast.If, ast.IfExp))]
    names = {n.id for test in tests for n in walk(test) if isinstance(n, ast.Name)}
    made = (  # `missing = size - len(batch)`, then `if missing:`
        node.value
        for node in walk(loop)
        if isinstance(node, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id in names for t in node.targets)
    )
    return any(_is_length(n) for asked in (*tests, *made) for n in walk(asked))


def _is_length(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return _called(node) == "len"
    return isinstance(node, ast.Attribute) and node.attr in ("shape", "size")


# ---------------------------------------------------------------- sizes


Sizes = tuple[tuple[int, ...], tuple[str, ...]]  # positions and keywords of what must be static sizes


def made_to_size(frame: Frame, kind: int, table: Sizes | None, last: str, call: Call) -> Value | None:
    """An array that a function makes with a size which is not the same each time."""
    if table is None or last in _NO_SIZES or frame.level:
        return None
    if last == "arange" and len(call.positional) > 1:
        return _arange(frame, kind, call)
    positions, keywords = table
    given = [(call.argument_node(p), call.positional[p]) for p in positions if p < len(call.positional)]
    given += [(call.argument_node(99, w), call.keywords[w]) for w in keywords if w in call.keywords]
    for node, value in given:
        found = size(frame, kind, node or call.node, value)
        if found is not None:
            return found
    return None


# Of those that take sizes: what pads to one, and what takes no size of the result.
_NO_SIZES = frozenset({"pad", "expand_dims", "rot90", "split", "array_split", "hsplit", "vsplit"})


def size(frame: Frame, kind: int, node: ast.AST, value: Value) -> Value | None:
    """An array of this shape, where a member of the shape moves."""
    members: list[tuple[ast.AST, Value]] = [(node, value)]
    if value.kind == TREE and value.data.__class__ is list:
        nodes = node.elts if isinstance(node, (ast.Tuple, ast.List)) else []
        exact = len(nodes) == len(value.data)
        members = [(nodes[i] if exact else node, member) for i, member in enumerate(value.data)]
    for at, member in members:
        moving = movement(frame, at, member)
        if moving is not None:
            origin = Origin(frame.module, node, FEW if moving.few else SIZE)
            return Value(kind, moving.varies, RAGGED, None, None, origin)
    return None


def _arange(frame: Frame, kind: int, call: Call) -> Value | None:
    nodes = [call.argument_node(0), call.argument_node(1)]
    if nodes[0] is None or nodes[1] is None:
        return None
    between = ast.copy_location(ast.Slice(nodes[0], nodes[1]), call.node)
    found = _slice(frame, between)
    if found is None or found.origin is None or found.origin.word in (PARTIAL, PERHAPS_PARTIAL):
        return None
    return Value(kind, found.varies, RAGGED, None, None, found.origin)


# ---------------------------------------------------------------- lists


def repeated(frame: Frame, container: Value, times: Value, node: ast.AST) -> Value:
    """`[0] * n`: a list whose length may not be the same each time."""
    members = parts(container)
    element = join_all(members) if members else None
    moving = movement(frame, None, times)
    if moving is None:
        return collection(element, container.origin)
    origin = Origin(frame.module, node, FEW if moving.few else LENGTH)
    return Value(TREE, moving.varies, RAGGED, None, element, origin)


# ---------------------------------------------------------------- functions of arrays


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
    return 0 < len(fillings) < len(members)


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
