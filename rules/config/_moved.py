"""Which module-level statements mean the same further up."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

# What the interpreter gives every module, and what only reads its arguments.
_ALWAYS_THERE = frozenset(("str", "int", "float", "bool", "repr", "len", "__file__", "__name__"))
_DISPLAYS = (ast.Constant, ast.JoinedStr, ast.List, ast.Tuple, ast.Dict)


def means_the_same_above(statement: ast.stmt, line: int, tree: ast.Module) -> bool:
    """Whether all that a statement reads is there above a line already, and is the same at the statement.

    That holds for modules of the standard library and for names of texts and numbers that the file binds above the
    line, and nowhere else. Attributes, items and functions of its own may change in between, unseen.
    """
    above = [other for other in tree.body if other.lineno < line]
    again = {name for node in ast.walk(tree) if getattr(node, "lineno", 0) >= line for name in _bound(node)}
    texts = {name for other in above for name in _text(other)}
    modules = {name for other in above for name in _standard(other)}
    if "*" in again and any(isinstance(node, ast.Name) and node.id in texts for node in ast.walk(statement)):
        return False
    known = (texts | modules | _ALWAYS_THERE) - again
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and node.id not in known:
            return False
        leads = (ast.Attribute, ast.Subscript, ast.Call)
        if isinstance(node, leads) and not isinstance(_root(node), (ast.Name, *_DISPLAYS)):
            return False
    return True


def _root(node: ast.expr) -> ast.expr:
    """`a` of `a.b[0](c)`."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a node itself binds or unbinds, in whatever scope."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield (alias.asname or alias.name).partition(".")[0]
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name


def _standard(statement: ast.stmt) -> Iterator[str]:
    """The names of modules of the standard library, or from them, that an import binds."""
    modules: list[str] = []
    if isinstance(statement, ast.Import):
        modules = [alias.name for alias in statement.names]
    elif isinstance(statement, ast.ImportFrom) and not statement.level:
        modules = [statement.module or ""]
    if modules and all(name.partition(".")[0] in sys.stdlib_module_names for name in modules):
        yield from _bound(statement)


def _text(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement binds to what nothing can change: a text or a number."""
    if isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, ast.Constant):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (target.id for target in targets if isinstance(target, ast.Name))
