"""Whether the chunks of a `lax.map(batch_size=…)` are as large as what is mapped: then it is one wide vmap."""

from __future__ import annotations

import ast

from jaxlint.flow.facts import Chunked
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.mapped import Sources
from jaxlint.flow.operand import dotted_name
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.values import CONSTANT
from jaxlint.flow.walking import walk

_DEPTH = 4
_ROUNDING = frozenset({"int", "ceil", "floor", "round"})
_SHAPED = frozenset({"zeros", "ones", "full", "empty"})


class PendingChunks(PendingFact):
    """A `lax.map` with a batch size."""

    __slots__ = ("batch", "call", "frame", "number", "proof")

    def __init__(self, frame: Frame, call: Call) -> None:
        self.frame = frame
        self.call = call
        self.batch = call.argument_node(3, "batch_size")
        value = call.argument(3, "batch_size")
        known = value is not None and value.kind == CONSTANT and type(value.data) is int
        self.number = value.data if known and value is not None else None
        self.proof = frame.proof()

    def fact(self) -> Chunked | None:
        mapped = self.call.argument_node(1, "xs")
        if self.batch is None or mapped is None:
            return None
        finder = _Lengths(self.frame, mapped)
        whole = finder.whole(self.batch, _DEPTH)
        length = finder.length(mapped, _DEPTH)
        if not whole:
            number = self.number if self.number is not None else finder.default(self.batch)
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
            return self.whole(bound[-1], depth - 1) if len(bound) == 1 else ""
        if isinstance(node, ast.Subscript):
            first = isinstance(node.slice, ast.Constant) and node.slice.value == 0
            of_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
            return "length" if first and of_shape and self._is_mapped(node.value.value) else ""  # type: ignore[attr-defined]
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
            fallback, chosen = node.values[-1], node.values[0]
        elif isinstance(node, ast.IfExp) and isinstance(node.test, ast.Compare):
            fallback, chosen = node.body, node.test.left
            if isinstance(node.test.ops[0], ast.IsNot):
                fallback = node.orelse
        else:
            return ""
        absent = self._default_node(chosen)
        if isinstance(absent, ast.Constant) and absent.value is None and self.whole(fallback, depth - 1):
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

    def _is_mapped(self, node: ast.expr) -> bool:
        """The array that is mapped, or the one that a nested function is called with."""
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
        if not isinstance(node, ast.Call) or not node.args:
            return None
        head, _, last = self.sources.dotted(node.func).rpartition(".")
        first = node.args[0]
        if head == "jax.random" and last == "split":
            return self.sources.number(node.args[1]) if len(node.args) > 1 else 2
        if last == "arange" and len(node.args) == 1:
            return self.sources.number(first)
        if last == "linspace" and len(node.args) > 2:
            return self.sources.number(node.args[2])
        shape = (
            first
            if last in _SHAPED
            else node.args[1]
            if head == "jax.random" and len(node.args) > 1
            else None
        )
        if isinstance(shape, (ast.Tuple, ast.List)) and shape.elts:
            return self.sources.number(shape.elts[0])
        return self.sources.number(shape)

    def _passed(self, name: str, depth: int) -> int | None:
        """The longest of what the calls in this module pass, if all are in view."""
        function = self.frame.function
        if function is None or function.parent is not None or name not in function.index:
            return None
        position, lengths = function.index[name], []
        for node in walk(self.frame.module.tree):
            if isinstance(node, ast.Call) and dotted_name(node.func) == function.name:
                given = next((k.value for k in node.keywords if k.arg == name), None)
                if given is None and position < len(node.args):
                    given = node.args[position]
                outer = Sources(self.frame)
                outer.scopes = outer.scopes[-1:]
                known = _Lengths.__new__(_Lengths)
                known.frame, known.sources, known.arrays = self.frame, outer, set()
                lengths.append(known.length(given, depth) if given is not None else None)
        return max(lengths) if lengths and None not in lengths else None  # type: ignore[type-var]
