"""Whether the chunks of a `lax.map(batch_size=…)` are as large as what is mapped: then it is one wide vmap."""

from __future__ import annotations

import ast

from jaxlint.flow.device_memory.mapped_lengths import Lengths
from jaxlint.flow.device_memory.variants import Sources
from jaxlint.flow.domain.kinds import CONSTANT
from jaxlint.flow.facts import Chunked
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.shapes.array_shapes import ArrayShapes
from jaxlint.flow.shapes.run_shapes import RunShapes
from jaxlint.flow.shapes.shape_values import Array, Items, Number, Table, member
from jaxlint.flow.syntax.bindings import Bindings
from jaxlint.flow.syntax.options import option_default
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name, last_name

_DEPTH = 4
_ROUNDING = frozenset({"int", "ceil", "floor", "round"})


class PendingChunks(PendingFact):
    """A `lax.map` with a batch size."""

    __slots__ = ("batch", "call", "frame", "number", "proof")

    def __init__(self, frame: Frame, call: Call) -> None:
        self.frame = frame
        self.call = call
        self.batch = call.argument_node(3, "batch_size")  # None where a partial has bound it
        value = call.argument(3, "batch_size")
        known = value is not None and value.kind == CONSTANT and type(value.data) is int
        self.number = value.data if known and value is not None else None
        self.proof = frame.proof()

    def fact(self) -> Chunked | None:
        mapped = self.call.argument_node(1, "xs")
        if mapped is None:
            return None
        finder = _Chunk(self.frame, mapped)
        number = self.number
        whole = finder.whole(self.batch, _DEPTH) if self.batch is not None else ""
        length = finder.lengths.of(mapped) or self._rows(mapped)
        if not whole:
            if number is None and self.batch is not None:
                number = finder.default(self.batch) or self._told()
            if number is None or length is None or number < length:
                return None
            whole = "default" if finder.parameter else "number"
        return Chunked(
            self.frame.place(self.call.node),
            self.frame.symbol,
            self.proof,
            why=whole,
            chunk=number,
            length=length,
            parameter=finder.parameter,
        )

    def _told(self) -> int | None:
        """The number that a function or field of the project gives."""
        known = (
            RunShapes(self.frame.run.program).at(self.frame, self.batch) if self.batch is not None else None
        )
        return known.value if isinstance(known, Number) else None

    def _rows(self, mapped: ast.expr) -> int | None:
        """How long the array is as functions of the project make it, for every call in view."""
        shapes = ArrayShapes(self.frame.run.program)
        known = shapes.of(mapped, shapes.around(self.frame.module, self.frame.function))
        if isinstance(known, (Items, Table)) and known.members:
            known = member(known, 0) if isinstance(known, Items) else known.members[0][1]
        return known.shape[0] if isinstance(known, Array) and known.shape else None


def note_chunks(frame: Frame, call: Call) -> None:
    """`lax.map(f, xs, batch_size=n)`."""
    if not frame.quiet and "batch_size" in call.keywords and isinstance(call.node, ast.Call):
        frame.log.append(PendingChunks(frame, call))


class _Chunk:
    """Compares expressions with the length of what is mapped."""

    def __init__(self, frame: Frame, mapped: ast.expr) -> None:
        self.frame = frame
        self.sources = Sources(frame)
        self.lengths = Lengths(frame, self.sources)
        self.parameter = ""  # whose default makes one chunk of all
        self.arrays = {n.id for n in walk(mapped) if isinstance(n, ast.Name)}
        nested = frame.function is not None and frame.function.parent is not None
        self.passed_on = nested and any(self.sources.is_parameter(name) for name in self.arrays)

    def whole(self, node: ast.expr, depth: int) -> str:
        """ "length" or "default" when the expression is at least the length of what is mapped, else ""."""
        if not depth:
            return ""
        if isinstance(node, ast.Name):
            bound = self.sources.bound(node.id)
            if len(bound) != 1:
                return self._filled_in(node, depth) if not bound else ""
            return self.whole(bound[-1], depth - 1)
        if isinstance(node, ast.Subscript):
            first = isinstance(node.slice, ast.Constant) and node.slice.value == 0
            of_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
            return "length" if first and of_shape and self._is_mapped(node.value.value) else ""  # type: ignore[attr-defined]  # an attribute if of_shape
        if isinstance(node, ast.Call):
            name = (dotted_name(node.func) or "").rpartition(".")[2]
            if name == "len" and node.args:
                return "length" if self._is_mapped(node.args[0]) else ""
            if name == "max":
                return next((w for w in (self.whole(a, depth - 1) for a in node.args) if w), "")
            return self.whole(node.args[0], depth) if name in _ROUNDING and node.args else ""
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.FloorDiv, ast.Div)):
            return self._divided(node, depth)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = node.operand  # -(-n // k), rounded up
            if isinstance(inner, ast.BinOp) and isinstance(inner.left, ast.UnaryOp):
                return self._divided(ast.BinOp(inner.left.operand, inner.op, inner.right), depth)
            return ""
        return self._chosen(node, depth)

    def _divided(self, node: ast.BinOp, depth: int) -> str:
        """`n // k` for a k that is 1 where nobody passes another."""
        left = node.left
        if isinstance(left, ast.BinOp) and isinstance(left.op, (ast.Add, ast.Sub)):
            rounded = left
            while isinstance(rounded.left, ast.BinOp):  # (n + k - 1) // k
                rounded = rounded.left
            left = rounded.left
        known = self.whole(left, depth - 1)
        if not known:
            return ""
        if self.sources.number(node.right) == 1:
            return known
        return "default" if self.default(node.right) == 1 else ""

    def _chosen(self, node: ast.expr, depth: int) -> str:
        """`chunk or len(xs)` and `len(xs) if chunk is None else chunk`, for a chunk that is None by default."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return self._left_out(node.values[0], node.values[-1], depth)
        tested = _tested(node.test) if isinstance(node, ast.IfExp) else None
        if tested is None:
            return ""
        return self._left_out(tested[0], node.body if tested[1] else node.orelse, depth)  # type: ignore[attr-defined]  # an IfExp

    def _filled_in(self, node: ast.Name, depth: int) -> str:
        """`if chunk is None: chunk = len(xs)` and `chunk = chunk or len(xs)`, for a parameter."""
        function = self.frame.function
        bound = Bindings(function.node).of(node.id) if function is not None else []
        if function is None or node.id not in function.defaults or len(bound) != 1:
            return ""
        for test in own_nodes(function.node):
            if not isinstance(test, ast.If) or not any(n is bound[0] for s in test.body for n in walk(s)):
                continue
            tested = _tested(test.test)
            if tested is not None and tested[1] and dotted_name(tested[0]) == node.id:
                return self._left_out(node, bound[0], depth)
        return self._chosen(bound[0], depth)

    def _left_out(self, chosen: ast.expr, fallback: ast.expr, depth: int) -> str:
        """The length where a parameter is left out, whose default stands for that."""
        absent = self.lengths.default_node(chosen)
        if isinstance(absent, ast.Constant) and not absent.value and self.whole(fallback, depth - 1):
            self.parameter = dotted_name(chosen) or ""
            return "default"
        return ""

    def default(self, node: ast.expr) -> int | None:
        """The number a parameter has, or an option of the command line, when nobody passes another."""
        found = self.lengths.default_node(node)
        number = self.sources.number(found) if found is not None else option_default(self.frame.module, node)
        if number is not None:
            self.parameter = dotted_name(node) or ""
        return number

    def _is_mapped(self, node: ast.expr) -> bool:
        """The array that is mapped, a leaf of it, or the one that a nested function is called with."""
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call) and node.value.args:
            leaves = last_name(node.value.func) in ("leaves", "tree_leaves")
            return leaves and self._is_mapped(node.value.args[0])
        name = dotted_name(node)
        return name is not None and (name.partition(".")[0] in self.arrays or self.passed_on)


def _tested(test: ast.expr) -> tuple[ast.expr, bool] | None:
    """What a test asks for, and whether it holds where that is missing: `x is None`, `not x`, `x`."""
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        return test.left, isinstance(test.ops[0], ast.Is)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand, True
    return (test, False) if isinstance(test, ast.Name) else None
