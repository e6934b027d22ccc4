"""Python loops in traced code: every round of them is traced and compiled by itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.flow.domain.kinds import CLASS, HOST, INDEXER, NUMBERS, PARAMETER, SHAPE, TRACED, TREE
from jaxlint.flow.domain.values import Value
from jaxlint.flow.facts import Unrolled
from jaxlint.flow.frame import Frame, Loop, evaluate
from jaxlint.flow.statements.rounds import Rounds, counted, how_often
from jaxlint.flow.syntax.bindings import bindings_of
from jaxlint.flow.trace.left_arrays import all_nodes, holds_tracers, leaves_arrays, stored
from jaxlint.flow.trace.unrolled_rows import over_rows
from jaxlint.index.walking import walk
from jaxlint.index.written_names import dotted_name

LONG = 16  # rounds of one loop
LONG_NEST = 64  # rounds of nested loops together

# What the rounds of a loop over layers run through.
_LAYERS = ("layer", "depth", "block", "stage", "level", "module", "unroll")
_JOINING = frozenset(
    {"concatenate", "append", "stack", "hstack", "vstack", "pad", "roll", "resize", "interpolate"}
)
_SIZED = frozenset({"zeros", "ones", "full", "empty", "eye", "arange", "linspace", "reshape", "broadcast_to"})


def note_loop(frame: Frame, loop: Loop, before: dict[str, Value]) -> None:
    """A loop of traced code has been walked through."""
    node = loop.node
    if isinstance(node, ast.While):
        found, target = (
            counted(frame, node, before),
            node.test.left if isinstance(node.test, ast.Compare) else None,
        )
    elif isinstance(node, ast.For) and loop.iterable is not None:
        found, target = how_often(frame, loop.iterable, node.iter) or over_rows(frame, node), node.target
    else:
        return
    if found is None:
        return
    total = None if found.number is None else found.number * loop.inner
    outer = frame.loops[-1] if frame.loops else None
    if outer is not None and total is not None:
        outer.inner = max(outer.inner, total)
    if not _is_long(found, total, loop.inner) or any(_runs_long(frame, around) for around in frame.loops):
        return
    assert isinstance(node, (ast.For, ast.While))
    # What indexes a traced array by the loop variable works on arrays, whatever becomes of it.
    works = found.bound == "shape" or leaves_arrays(frame, node)
    if not works or not _Body(frame, node, node.body, target, found).unrolls_work():
        return
    at = node.iter if isinstance(node, ast.For) else node.test
    _record(frame, at, node, found, total, "while" if isinstance(node, ast.While) else "for")


def note_unrolled(
    frame: Frame,
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
    iterable: Value,
    element: Value,
) -> None:
    """A comprehension of traced code has been walked through."""
    found = how_often(frame, iterable, node.generators[0].iter)
    if (
        found is None
        or not holds_tracers(element)
        or any(_runs_long(frame, around) for around in frame.loops)
    ):
        return
    target = node.generators[0].target
    made = node.value if isinstance(node, ast.DictComp) else node.elt
    if _is_long(found, found.number, 1) and _Body(frame, node, [made], target, found).unrolls_work():
        _record(frame, node.generators[0].iter, node, found, found.number, "comprehension")


def _is_long(found: Rounds, total: int | None, inner: int) -> bool:
    if found.number is None or total is None:
        return True
    return found.number >= LONG or (total >= LONG_NEST and inner < LONG)


def _runs_long(frame: Frame, loop: Loop) -> bool:
    """The loop around is reported instead."""
    if loop.iterable is None or not isinstance(loop.node, ast.For):
        return False
    found = how_often(frame, loop.iterable, loop.node.iter)
    return found is not None and (found.number or 0) >= LONG


def _record(frame: Frame, at: ast.AST, node: ast.AST, found: Rounds, total: int | None, form: str) -> None:
    frame.record(
        Unrolled(
            frame.place(at),
            frame.symbol,
            frame.proof(),
            loop=frame.place(node),
            rounds=total,
            bound=found.bound,
            name=found.name,
            form=form,
        )
    )


def _root(node: ast.expr) -> ast.expr:
    """`p` in `p[i - 1][j]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _first_name(node: ast.expr) -> str:
    root = _root(node)
    return root.id if isinstance(root, ast.Name) else ""


def _is_blank(value: ast.expr) -> bool:
    """`[]`, `{0: x}`, `[None] * n`."""
    if isinstance(value, ast.BinOp):
        return _is_blank(value.left) or _is_blank(value.right)
    return isinstance(value, (ast.List, ast.Dict))


def _is_piece_of(value: ast.expr, name: str) -> bool:
    """All that it takes of the name are slices, and it does not put them together again."""
    nodes = list(walk(value))
    called = {(dotted_name(n.func) or "").rpartition(".")[2] for n in nodes if isinstance(n, ast.Call)}
    cuts = (n for n in nodes if isinstance(n, ast.Subscript) and _cuts(n.slice))
    cut = {_root(piece) for piece in cuts}
    reads = [n for n in nodes if isinstance(n, ast.Name) and n.id == name]
    return bool(reads) and cut.issuperset(reads) and called.isdisjoint(_JOINING)


def _cuts(index: ast.expr) -> bool:
    return any(
        isinstance(n, ast.Slice) and any(b is not None for b in (n.lower, n.upper, n.step))
        for n in (index.elts if isinstance(index, ast.Tuple) else [index])
    )


class _Body:
    """What the rounds of a loop do with its variable."""

    def __init__(
        self,
        frame: Frame,
        node: ast.AST,
        body: list[ast.stmt] | list[ast.expr],
        target: ast.expr | None,
        found: Rounds,
    ) -> None:
        self.frame = frame
        self.node = node
        self.nodes = list(all_nodes(body))
        self.found = found
        self.variables = (
            {n.id for n in walk(target) if isinstance(n, ast.Name)} if target is not None else set()
        )

    def unrolls_work(self) -> bool:
        """Array work that is the same in each round, on arrays that the loop variable indexes."""
        if self._is_of_layers() or not any(isinstance(n, (ast.Call, ast.BinOp)) for n in self.nodes):
            return False
        filled = self._filled_here()
        indexed = [n for n in self.nodes if isinstance(n, ast.Subscript) and self._uses_variable(n.slice)]
        if any(self._changes_shape(n.slice) for n in indexed):
            return False
        if self._shrinks() or any(
            _first_name(n) not in filled and not self._is_array(n.value) for n in indexed
        ):
            return False
        if self.found.bound == "shape":
            return any(self._is_measured(n.value) for n in indexed)
        return True

    def _filled_here(self) -> set[str]:
        """The lists and dicts of this function that the rounds fill: `p.append(f(p[i - 1], p[i - 2]))` is the carry
        of a scan. One that came from elsewhere may hold the arrays of layers."""
        names = {_first_name(filled[0]) for node in self.nodes if (filled := stored(node)) is not None}
        bound = bindings_of(self.frame)
        return {n for n in names if bound.of(n) and all(map(_is_blank, bound.of(n)))}

    def _shrinks(self) -> bool:
        """`x = x[1:] - x[:-1]`, `levels.append(levels[i][::2])`: the shape changes in each round."""
        for node in self.nodes:
            bound = stored(node)
            if bound is None and isinstance(node, ast.Assign):
                bound = node.targets[0], node.value
            if bound is not None and _is_piece_of(bound[1], _first_name(bound[0])):
                return True
        return False

    def _is_of_layers(self) -> bool:
        words = ast.dump(self.node.iter if isinstance(self.node, ast.For) else self.node).lower()
        if isinstance(self.node, ast.For) and any(word in words for word in _LAYERS):
            return True
        states = set(self._states())
        for node in self.nodes:
            if isinstance(node, ast.JoinedStr) and self._uses_variable(node):
                return True  # names a layer
            if isinstance(node, ast.Call):
                name = (dotted_name(node.func) or "").rpartition(".")[2]
                if name[:1].isupper() and node not in states:
                    return True  # makes one
                if name in _SIZED and any(self._uses_variable(a) for a in node.args):
                    return True  # another shape in each round
        return False

    def _states(self) -> Iterator[ast.Call]:
        """`body = Body(body.x + v, …)`: what makes the next state, a named tuple or the like, of the last."""
        for node in self.nodes:
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            made = evaluate(self.frame, node.value.func)
            if made.kind == CLASS and made.data.is_pytree_value:
                bound = {n.id for t in node.targets for n in walk(t) if isinstance(n, ast.Name)}
                reads = (n for n in self.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
                if any(n.id in bound and n.lineno <= (node.end_lineno or 0) for n in reads):
                    yield node.value

    def _uses_variable(self, node: ast.AST) -> bool:
        return any(isinstance(n, ast.Name) and n.id in self.variables for n in walk(node))

    def _is_array(self, node: ast.expr) -> bool:
        value = evaluate(self.frame, node)
        if value.kind in (TRACED, HOST, INDEXER, SHAPE):
            return True
        if value.kind == TREE:
            element = value.element or (
                value.data[0] if value.data.__class__ is list and value.data else None
            )
            return element is not None and element.kind in NUMBERS
        return value.kind == PARAMETER and (self._is_measured(node) or self._has_axes(node))

    def _has_axes(self, node: ast.expr) -> bool:
        """`x[i, j]`, as no list is read."""
        return any(
            isinstance(n, ast.Subscript) and n.value is node and isinstance(n.slice, ast.Tuple)
            for n in self.nodes
        )

    def _is_measured(self, node: ast.expr) -> bool:
        """The code asks for its shape, as it does of no list."""
        if isinstance(node, ast.Attribute) and node.attr == "at":
            node = node.value
        name = dotted_name(node)
        if name is None:
            return False
        if name == self.found.name:
            return True
        function = self.frame.function
        asked = self.found.bound != "shape" and function is not None and walk(function.node)
        return any(
            isinstance(child, ast.Attribute)
            and child.attr in ("shape", "ndim", "dtype", "at")
            and dotted_name(child.value) == name
            for child in asked or ()
        )

    def _changes_shape(self, index: ast.expr) -> bool:
        """`x[i:]`: another shape in each round."""
        for node in walk(index):
            if isinstance(node, ast.Slice):
                moving = [b for b in (node.lower, node.upper) if b is not None and self._uses_variable(b)]
                if len(moving) == 1:
                    return True
        return False
