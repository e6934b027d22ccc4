"""Python numbers and dtypes in view, by themselves or under a name."""

from __future__ import annotations

import ast
from typing import NamedTuple

from jaxlint.flow.program import LoadedModule
from jaxlint.flow.shapes.element_types import Element, named
from jaxlint.flow.syntax.bindings import Bindings
from jaxlint.index.walking import nodes_of

_NUMBERS = frozenset({"pi", "e", "inf"})
_HOMES = frozenset({"math", "numpy", "np", "jnp"})


class At(NamedTuple):
    """Where an expression stands: its module and the function around it, None at the top level."""

    module: LoadedModule
    function: ast.AST | None = None


def number(node: ast.expr, at: At, names: bool = True) -> str:
    """ "int" or "float" of a Python number, by itself or under a name, "" of anything else."""
    if isinstance(node, ast.UnaryOp):
        return number(node.operand, at, names)
    if isinstance(node, ast.Constant):
        return "float" if isinstance(node.value, float) else "int" if isinstance(node.value, int) else ""
    if isinstance(node, ast.Attribute):
        return "float" if node.attr in _NUMBERS and written(node.value) in _HOMES else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id if node.func.id in ("int", "float") else ""
    if isinstance(node, ast.BinOp):
        sides = number(node.left, at, names), number(node.right, at, names)
        return "" if "" in sides else "float" if isinstance(node.op, ast.Div) else max(sides, key=len)
    if isinstance(node, ast.Name) and names and not _is_given(node.id, at):
        found = {number(bound, at, False) for bound in bound_to(node.id, at)}
        return found.pop() if len(found) == 1 else ""
    return ""


def _is_given(name: str, at: At) -> bool:
    """A parameter, or what is added up: `total = 0.0`, `total += frames`."""
    added = (n.target for n in nodes_of(at.function or at.module.tree, ast.AugAssign))
    return name in parameters(at.function) or any(isinstance(t, ast.Name) and t.id == name for t in added)


def dtype(node: ast.expr, at: At, x64: bool) -> Element | None:
    """Of a dtype that is named: `jnp.uint8`, `"bfloat16"`, `DTYPE` where that is one."""
    if isinstance(node, ast.Constant):
        return named(node.value, x64) if isinstance(node.value, str) else None
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return None
    found = named(written(node), x64)
    if found is None and isinstance(node, ast.Name) and node.id not in parameters(at.function):
        bound = bound_to(node.id, at)
        if len(bound) == 1 and isinstance(bound[0], ast.Attribute):
            return named(bound[0].attr, x64)
    return found


def bound_to(name: str, at: At) -> list[ast.expr]:
    """What a name is bound to in the function, or else in the module."""
    own = Bindings(at.function).of(name) if at.function is not None else []
    return own or Bindings(at.module.tree).of(name)


def parameters(function: ast.AST | None) -> list[str]:
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return []
    return [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]


def written(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
