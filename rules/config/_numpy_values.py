"""Whether a value of a module can be numpy's instead of jax's, by what the file does with it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from jaxlint.finding import Place

if TYPE_CHECKING:
    from jaxlint.context import Context

# Makers of arrays with a dtype of their own, whatever they are given.
_MAKERS = """
zeros ones eye identity linspace logspace geomspace tri float16 float32 float64 complex64 complex128
"""
_FLOATS = frozenset(_MAKERS.split())
_INTEGERS = frozenset(["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
_SAME_ATTRIBUTES = frozenset({"shape", "ndim", "size"})


def serve(places: Iterable[Place], jnp: str, ctx: Context) -> bool:
    """Whether all of the calls stand in values of module-level names, which keep their dtype with numpy, and the
    rest of the file only hands those names to functions of `jax.numpy`, which take either, and that no other
    module of the project imports them: nobody has looked at what that does."""
    tree = ctx.focus.tree
    lines = [place.span.line for place in places]
    bindings = [s for s in tree.body if isinstance(s, (ast.Assign, ast.AnnAssign)) and s.value is not None]
    values = _Values(jnp, ctx.spell("numpy") or "")
    found: list[ast.stmt] = []
    for statement in bindings:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        value = statement.value
        holds = any(statement.lineno <= line <= (statement.end_lineno or 0) for line in lines)
        if value is None or not (holds or values.names & _names(value)):
            values.note_other(targets, value)
            continue
        if not all(isinstance(target, ast.Name) for target in targets) or not values.is_alike(value):
            return False
        values.note(targets, value)
        found.append(statement)
    if not all(any(s.lineno <= line <= (s.end_lineno or 0) for s in found) for line in lines):
        return False
    known = {id(node) for s in found for node in ast.walk(s)}
    known |= {id(part) for node in ast.walk(tree) for part in _taken(node, jnp)}
    uses = (n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in values.names)
    return all(id(node) in known for node in uses) and not any(map(ctx.is_taken, values.names))


def _names(value: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}


def _taken(node: ast.AST, jnp: str) -> list[ast.expr]:
    """The parts of a node that may be numpy's as well."""
    if isinstance(node, ast.Attribute) and node.attr in _SAME_ATTRIBUTES:
        return [node.value]
    if isinstance(node, ast.Call) and ast.unparse(node.func).startswith(f"{jnp}."):
        return [*node.args, *(keyword.value for keyword in node.keywords)]
    return []


class _Values:
    """Values of module-level names. numpy gives the same, up to rounding, of floats throughout or of whole numbers
    by themselves: beside a float jax makes an integer array a weak one, and a single number is weak, too. `x * EPS`
    then has the dtype of `x`, where an array of numpy has a dtype of its own."""

    def __init__(self, jnp: str, numpy: str) -> None:
        self.jnp = jnp
        self.numpy = numpy
        self.names: set[str] = set()
        self.floats: set[str] = set()
        self.others: set[str] = set()  # numbers, and what numpy has made

    def note(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        self.names |= names
        if self.is_float(value):
            self.floats |= names

    def note_other(self, targets: Sequence[ast.expr], value: ast.expr | None) -> None:
        own = (
            isinstance(value, ast.Call)
            and self.numpy
            and ast.unparse(value.func).startswith(f"{self.numpy}.")
        )
        if own or isinstance(value, ast.Constant):
            self.others |= {target.id for target in targets if isinstance(target, ast.Name)}

    def is_alike(self, value: ast.expr) -> bool:
        if self.is_float(value):
            return True
        if isinstance(value, ast.UnaryOp):
            return self.is_alike(value.operand)
        function = self._function(value)
        if not isinstance(value, ast.Call) or not function:
            return isinstance(value, ast.Name) and value.id in self.names
        if any(keyword.arg == "dtype" for keyword in value.keywords) or function in _INTEGERS:
            return True
        if function in ("array", "asarray"):
            return len(value.args) == 1 and _is_list(value.args[0])
        return function == "arange" and all(isinstance(a, ast.Constant) for a in value.args)

    def is_float(self, value: ast.expr) -> bool:
        """Whether a value is an array of floats that is not weak."""
        if isinstance(value, ast.Name):
            return value.id in self.floats
        if isinstance(value, ast.UnaryOp):
            return self.is_float(value.operand)
        if isinstance(value, ast.BinOp):
            return self._are_floats([value.left, value.right])
        function = self._function(value)
        if not isinstance(value, ast.Call) or not function:
            return False
        if any(keyword.arg == "dtype" for keyword in value.keywords):
            return any(k.arg == "dtype" and "float" in ast.unparse(k.value) for k in value.keywords)
        if function in ("zeros", "ones") and len(value.args) > 1:
            return "float" in ast.unparse(value.args[1])
        if function in _FLOATS:
            return True
        if function in ("array", "asarray", "arange"):
            exact = all(isinstance(a, ast.Constant) or _is_list(a) for a in value.args)
            numbers = [n.value for a in value.args for n in ast.walk(a) if isinstance(n, ast.Constant)]
            lists = function == "arange" or any(map(_is_list, value.args))
            return exact and lists and any(isinstance(number, float) for number in numbers)
        return function not in ("full", "empty") and self._are_floats(value.args)

    def _function(self, value: ast.expr) -> str:
        """The name of a function of `jax.numpy` that is called."""
        head, _, last = (
            ast.unparse(value.func).rpartition(".") if isinstance(value, ast.Call) else ("", "", "")
        )
        return last if head == self.jnp else ""

    def _are_floats(self, values: list[ast.expr]) -> bool:
        """Some arrays of floats, and numbers beside them."""
        arrays = [v for v in values if not self._is_other(v)]
        return bool(arrays) and all(map(self.is_float, arrays))

    def _is_other(self, value: ast.expr) -> bool:
        if isinstance(value, ast.BinOp):
            return self._is_other(value.left) and self._is_other(value.right)
        return isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id in self.others)


def _is_list(value: ast.expr) -> bool:
    """A display of numbers."""
    plain = (ast.List, ast.Tuple, ast.Constant, ast.UnaryOp, ast.expr_context, ast.unaryop)
    nodes = list(ast.walk(value))
    return isinstance(value, (ast.List, ast.Tuple)) and all(isinstance(node, plain) for node in nodes)
