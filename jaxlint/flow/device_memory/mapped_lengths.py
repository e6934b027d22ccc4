"""How many there are to map over: the first size of an array, as its maker says it, along the calls of a run."""

from __future__ import annotations

import ast

from jaxlint.flow.device_memory.variants import Sources
from jaxlint.flow.domain.kinds import CONSTANT
from jaxlint.flow.domain.values import is_number
from jaxlint.flow.frame import Frame
from jaxlint.flow.shapes.run_shapes import rows
from jaxlint.flow.syntax.bindings import look
from jaxlint.flow.syntax.calls_in_view import passed_in_module
from jaxlint.flow.syntax.entries import entered_by, returned_by, spread_for
from jaxlint.flow.syntax.last_bindings import last_binding
from jaxlint.flow.syntax.library_names import library_name

_DEPTH = 16
_ANYWHERE = 1 << 30  # a line below all: in a function around this one, what a name is bound to in the end
_SHAPED = frozenset({"zeros", "ones", "full", "empty"})
_KEEPING = frozenset({"astype", "copy", "clip"})
_CONVERTING = frozenset({"asarray", "array", "device_put"})
_JOINING = frozenset({"concatenate", "concat", "vstack", "stack"})
_LIKE = frozenset({"zeros_like", "ones_like", "full_like", "empty_like"})

_Path = tuple[int, ...]  # which member of which member of what an expression gives


class Lengths:
    """Counts along the first axis, in one function that has been run."""

    def __init__(self, frame: Frame, sources: Sources) -> None:
        self.frame = frame
        self.sources = sources

    def of(self, node: ast.expr, depth: int = _DEPTH, path: _Path = (), axes: int = 1) -> int | None:
        """The length of an array of no fewer axes, or of the arrays of a tree, which are all as long as one another
        where they are mapped together. None where it is not in view."""
        if not depth:
            return None
        if isinstance(node, ast.Name):
            return self._named(node, depth - 1, path, axes)
        if isinstance(node, (ast.Tuple, ast.List)):
            return self._of_members(node.elts, depth, path, axes)
        if isinstance(node, ast.Dict) and not path:
            return self._of_members(node.values, depth, path, axes)
        if isinstance(node, ast.Call):
            return self._called(node, depth - 1, path, axes)
        if path:
            return None
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand, depth, path, axes)
        return self._combined(node, depth - 1, axes) if isinstance(node, ast.BinOp) else None

    def _of_members(self, nodes: list[ast.expr], depth: int, path: _Path, axes: int) -> int | None:
        if any(isinstance(node, ast.Starred) for node in nodes):
            return None
        if path:
            return self.of(nodes[path[0]], depth - 1, path[1:], axes) if path[0] < len(nodes) else None
        found = (self.of(node, depth - 1, (), axes) for node in nodes)
        return next((length for length in found if length is not None), None)

    def _named(self, node: ast.Name, depth: int, path: _Path, axes: int) -> int | None:
        """Of a name: as the last statement above binds it, and as the calls pass it."""
        for position, scope in enumerate(self.sources.scopes):
            bound = last_binding(scope, node.id, _ANYWHERE if position else node.lineno)
            found = []
            if bound is not None:
                value, member = bound
                found.append(self.of(value, depth, (member, *path) if member is not None else path, axes))
            if self.sources.is_parameter(node.id) and not position:
                found.append(self._passed(node.id, depth, path, axes))
            if found:
                return None if None in found else max(found)  # type: ignore[type-var]  # no None in it
        return None

    def _combined(self, node: ast.BinOp, depth: int, axes: int) -> int | None:
        """`scale * draws`: with a number the length stays, as it does for a matrix on the left of a product."""
        if isinstance(node.op, ast.MatMult):
            return self.of(node.left, depth, (), max(axes, 2))
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if is_number(look(self.frame, other)):
                return self.of(one, depth, (), axes)
        length = self.of(node.left, depth, (), axes)
        return length if length is not None and length == self.of(node.right, depth, (), axes) else None

    def _called(self, node: ast.Call, depth: int, path: _Path, axes: int) -> int | None:
        if isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPING:
            return self.of(node.func.value, depth, path, axes)
        inside = entered_by(self.frame, node)
        if inside:  # a function of the project: the longest that it returns
            returned = [(Lengths(at, Sources(at)), r) for at in inside for r in returned_by(at)]
            found = [lengths.of(r, depth, path, axes) for lengths, r in returned]
            if found and None not in found:
                return max(found)  # type: ignore[type-var]  # no None in it
        elif not path and (made := self._made(node, depth, axes)) is not None:
            return made
        return rows(self.frame, node, axes) if not path else None

    def _made(self, node: ast.Call, depth: int, axes: int) -> int | None:
        """What a function of a library makes."""
        head, _, last = library_name(self.sources.frame, node.func).rpartition(".")
        words = {keyword.arg: keyword.value for keyword in node.keywords}
        first = node.args[0] if node.args else None
        second = node.args[1] if len(node.args) > 1 else None
        if axes == 1:
            if head == "jax.random" and last == "split":
                asked = words.get("num", second)
                return self._number(asked) if asked is not None else 2
            if last == "arange" and len(node.args) == 1:
                return self._number(first)
            if last == "linspace" and len(node.args) > 2:
                return self._number(node.args[2])
        if last in _CONVERTING and first is not None:
            if not isinstance(first, (ast.Tuple, ast.List)):
                return self.of(first, depth, (), axes)
            return len(first.elts) if axes == 1 else None
        if head == "jax.numpy" and last in _JOINING and first is not None:
            return self._joined(first, last, words.get("axis", second), depth, axes)
        if last in _LIKE and first is not None:
            return self.of(first, depth, (), axes)
        if "keepdims" in words and _is_inner(words.get("axis", second)) and first is not None:
            return self.of(first, depth, (), max(axes, 2))
        return self._shaped(_shape(node, head, last), depth, axes)

    def _joined(
        self, members: ast.expr, how: str, axis: ast.expr | None, depth: int, axes: int
    ) -> int | None:
        """Of `concatenate([a, b])` all; of `stack([a, b])` so many; along another axis as long as each."""
        if not isinstance(members, (ast.Tuple, ast.List)) or any(
            isinstance(node, ast.Starred) for node in members.elts
        ):
            return None
        first_axis = axis is None or (isinstance(axis, ast.Constant) and axis.value == 0)
        if how == "stack":
            return len(members.elts) if first_axis else None
        if how != "vstack" and not first_axis:
            found = [self.of(node, depth, (), max(axes, 2)) for node in members.elts]
            return next((length for length in found if length is not None), None) if _is_inner(axis) else None
        found = [self.of(node, depth, (), 2 if how == "vstack" else axes) for node in members.elts]
        return None if None in found else sum(found)  # type: ignore[arg-type]  # no None in it

    def _shaped(self, shape: list[ast.expr], depth: int, axes: int) -> int | None:
        if len(shape) == 1 and isinstance(shape[0], (ast.Tuple, ast.List)):
            shape = shape[0].elts
        elif len(shape) == 1 and isinstance(shape[0], ast.Attribute) and shape[0].attr == "shape":
            return self.of(shape[0].value, depth, (), axes)
        told = len(shape) >= axes and not any(isinstance(size, ast.Starred) for size in shape)
        number = self._number(shape[0]) if told and shape else None
        return number if number is not None and number >= 0 else None  # `reshape(-1, 3)`

    def _passed(self, name: str, depth: int, path: _Path, axes: int) -> int | None:
        """The longest of what the calls that entered this evaluation pass, or else those in this module, if all are
        in view."""
        function = self.frame.function
        entered = [
            Lengths(at, Sources(at)).of(node, depth, path if member is None else (member, *path), axes)
            for at, node, member in spread_for(self.frame, name)
        ]
        if entered:
            return None if None in entered else max(entered)  # type: ignore[type-var]  # no None in it
        if function is None or function.parent is not None or name not in function.index:
            return None
        lengths: list[int | None] = []
        for given, scope in passed_in_module(self.frame, function, name):
            outer = Sources(self.frame)
            outer.scopes = [scope, *outer.scopes[-1:]]
            known = Lengths(self.frame, outer).of(given, depth, path, axes) if given is not None else None
            lengths.append(known)
        return max(lengths) if lengths and None not in lengths else None  # type: ignore[type-var]  # no None in it

    def _number(self, node: ast.expr | None) -> int | None:
        """A number as the analysis knows it here (`cfg.members`), as constants make it, or as the default of a
        parameter that no call in this module passes."""
        if node is None:
            return None
        value = look(self.frame, node)
        if value.kind == CONSTANT and type(value.data) is int:
            return value.data
        known = self.sources.number(node)
        if known is None and isinstance(node, ast.Name) and not self.is_passed(node.id):
            return self.sources.number(self.default_node(node))
        return known

    def is_passed(self, name: str) -> bool:
        """Whether a call in this module passes the parameter."""
        function = self.frame.function
        while function is not None and name not in (*function.index, *function.keyword_only):
            function = function.parent
        return function is None or any(
            given is not None for given, _ in passed_in_module(self.frame, function, name)
        )

    def default_node(self, node: ast.expr) -> ast.expr | None:
        """The default of the parameter that a name stands for."""
        function = self.frame.function
        while function is not None and isinstance(node, ast.Name):
            if node.id in function.defaults:
                return function.defaults[node.id]
            function = function.parent
        return None


def _shape(node: ast.Call, head: str, last: str) -> list[ast.expr]:
    """The shape that a call of a library asks for: one expression, or the sizes one by one."""
    words = {keyword.arg: keyword.value for keyword in node.keywords}
    asked = words.get("shape") or words.get("size")
    if asked is not None:
        return [asked]
    method = isinstance(node.func, ast.Attribute) and node.func.attr == "reshape"
    if method and head not in ("jax.numpy", "numpy"):  # `x.reshape(n, 3)`
        return node.args
    if last in _SHAPED:
        return node.args[:1]
    return node.args[1:2] if head == "jax.random" or last in ("reshape", "broadcast_to") else []


def _is_inner(axis: ast.expr | None) -> bool:
    """An axis that is not the first, of two or more: `-1`, `1`."""
    if isinstance(axis, ast.UnaryOp) and isinstance(axis.op, ast.USub):
        axis = axis.operand
        return isinstance(axis, ast.Constant) and axis.value == 1
    return isinstance(axis, ast.Constant) and axis.value == 1
