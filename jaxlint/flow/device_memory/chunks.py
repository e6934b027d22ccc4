"""Whether the chunks of a `lax.map(batch_size=…)` are as large as what is mapped: then it is one wide vmap."""

from __future__ import annotations

import ast

from jaxlint.flow.device_memory.variants import Sources
from jaxlint.flow.domain.kinds import CONSTANT
from jaxlint.flow.domain.values import is_number
from jaxlint.flow.facts import Chunked
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.shapes.array_shapes import ArrayShapes
from jaxlint.flow.shapes.shape_values import Array, Items, Table, member
from jaxlint.flow.syntax.bindings import Bindings, look
from jaxlint.flow.syntax.calls_in_view import passed_in_module
from jaxlint.flow.syntax.entries import called_at, passed_for, returned_by
from jaxlint.flow.syntax.library_names import library_name
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name, last_name

_DEPTH = 4
_ROUNDING = frozenset({"int", "ceil", "floor", "round"})
_SHAPED = frozenset({"zeros", "ones", "full", "empty"})
_KEEPING = frozenset({"astype", "copy", "clip"})
_CONVERTING = frozenset({"asarray", "array", "device_put"})


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
        finder = _Lengths(self.frame, mapped)
        whole = finder.whole(self.batch, _DEPTH) if self.batch is not None else ""
        length = finder.length(mapped, _DEPTH) or self._rows(mapped)
        if not whole:
            number = self.number
            if number is None and self.batch is not None:
                number = finder.default(self.batch)
            if number is None or length is None or number < length:
                return None
            whole = "default" if self.number is None else "number"
        return Chunked(
            self.frame.place(self.call.node),
            self.frame.symbol,
            self.proof,
            why=whole,
            chunk=self.number,
            length=length,
            parameter=finder.parameter,
        )

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


class _Lengths:
    """Compares expressions with the length of what is mapped."""

    def __init__(self, frame: Frame, mapped: ast.expr) -> None:
        self.frame = frame
        self.sources = Sources(frame)
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
        absent = self._default_node(chosen)
        if isinstance(absent, ast.Constant) and not absent.value and self.whole(fallback, depth - 1):
            self.parameter = dotted_name(chosen) or ""
            return "default"
        return ""

    def default(self, node: ast.expr) -> int | None:
        """The number a parameter has when nobody passes another."""
        found = self._default_node(node)
        number = self.sources.number(found)
        if number is not None:
            self.parameter = dotted_name(node) or ""
        return number

    def _default_node(self, node: ast.expr) -> ast.expr | None:
        function = self.frame.function
        while function is not None and isinstance(node, ast.Name):
            if node.id in function.defaults:
                return function.defaults[node.id]
            function = function.parent
        return None

    def _number(self, node: ast.expr | None) -> int | None:
        """A number as the analysis knows it here (`cfg.members`), as constants make it, or as the default of a
        parameter that no call in this module passes."""
        if node is None:
            return None
        value = look(self.frame, node)
        if value.kind == CONSTANT and type(value.data) is int:
            return value.data
        known = self.sources.number(node)
        if known is None and isinstance(node, ast.Name) and not self._is_passed(node.id):
            return self.sources.number(self._default_node(node))
        return known

    def _is_passed(self, name: str) -> bool:
        function = self.frame.function
        while function is not None and name not in (*function.index, *function.keyword_only):
            function = function.parent
        return function is None or any(
            given is not None for given, _ in passed_in_module(self.frame, function, name)
        )

    def _is_mapped(self, node: ast.expr) -> bool:
        """The array that is mapped, a leaf of it, or the one that a nested function is called with."""
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call) and node.value.args:
            leaves = last_name(node.value.func) in ("leaves", "tree_leaves")
            return leaves and self._is_mapped(node.value.args[0])
        name = dotted_name(node)
        return name is not None and (name.partition(".")[0] in self.arrays or self.passed_on)

    def length(self, node: ast.expr, depth: int) -> int | None:
        """How many there are to map over, where that is in view."""
        if not depth:
            return None
        if isinstance(node, ast.Name):
            bound = self.sources.bound(node.id)
            if bound:
                return self.length(bound[-1], depth - 1)
            return self._passed(node.id, depth - 1) if self.sources.is_parameter(node.id) else None
        if isinstance(node, (ast.Tuple, ast.List)) and node.elts:
            return self.length(node.elts[0], depth - 1)
        if isinstance(node, ast.Dict) and node.values:
            return self.length(node.values[0], depth - 1)
        if isinstance(node, ast.UnaryOp):
            return self.length(node.operand, depth)
        if isinstance(node, ast.BinOp):
            return self._combined(node, depth)
        return self._made(node, depth) if isinstance(node, ast.Call) else None

    def _combined(self, node: ast.BinOp, depth: int) -> int | None:
        """`scale * draws`: with a number the length stays."""
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if is_number(look(self.frame, other)):
                return self.length(one, depth - 1)
        left, right = self.length(node.left, depth - 1), self.length(node.right, depth - 1)
        return left if left == right else None

    def _made(self, node: ast.Call, depth: int) -> int | None:
        if isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPING:
            return self.length(node.func.value, depth - 1)
        inside = [e.frame for e in called_at(self.frame, node) if e.frame is not None]
        if inside:  # a function of the project: the longest that it returns
            found = [_Lengths(at, r).length(r, depth - 1) for at in inside for r in returned_by(at)]
            return None if not found or None in found else max(found)  # type: ignore[type-var]  # no None in it
        head, _, last = library_name(self.sources.frame, node.func).rpartition(".")
        words = {keyword.arg: keyword.value for keyword in node.keywords}
        first = node.args[0] if node.args else None
        second = node.args[1] if len(node.args) > 1 else None
        if head == "jax.random" and last == "split":
            asked = words.get("num", second)
            return self._number(asked) if asked is not None else 2
        if last == "arange" and len(node.args) == 1:
            return self._number(first)
        if last == "linspace" and len(node.args) > 2:
            return self._number(node.args[2])
        if last in _CONVERTING and first is not None:
            listed = isinstance(first, (ast.Tuple, ast.List))
            return len(first.elts) if listed else self.length(first, depth - 1)  # type: ignore[attr-defined]  # a display if listed
        shape = words.get("shape") or words.get("size")
        if shape is None and last == "reshape":  # `x.reshape(n, 3)`, `jnp.reshape(x, (n, 3))`
            shape = second if head == "jax.numpy" else first
        if shape is None:
            shape = first if last in _SHAPED else second if head == "jax.random" else None
        if isinstance(shape, (ast.Tuple, ast.List)) and shape.elts:
            shape = shape.elts[0]
        number = self._number(shape)
        return number if number is not None and number >= 0 else None  # `reshape(-1, 3)`

    def _passed(self, name: str, depth: int) -> int | None:
        """The longest of what the calls that entered this evaluation pass, or else those in this module, if all are
        in view."""
        function = self.frame.function
        entered = [_Lengths(at, node).length(node, depth) for at, node in passed_for(self.frame, name)]
        if entered:
            return None if None in entered else max(entered)  # type: ignore[type-var]  # no None in it
        if function is None or function.parent is not None or name not in function.index:
            return None
        lengths: list[int | None] = []
        for given, scope in passed_in_module(self.frame, function, name):
            outer = Sources(self.frame)
            outer.scopes = [scope, *outer.scopes[-1:]]
            known = _Lengths.__new__(_Lengths)
            known.frame, known.sources, known.arrays = self.frame, outer, set()
            lengths.append(known.length(given, depth) if given is not None else None)
        return max(lengths) if lengths and None not in lengths else None  # type: ignore[type-var]  # no None in it


def _tested(test: ast.expr) -> tuple[ast.expr, bool] | None:
    """What a test asks for, and whether it holds where that is missing: `x is None`, `not x`, `x`."""
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        return test.left, isinstance(test.ops[0], ast.Is)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand, True
    return (test, False) if isinstance(test, ast.Name) else None
