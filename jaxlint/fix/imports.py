"""Where a file takes one more import, and how it would write it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.finding import Edit, Span

# Modules under the names that everybody gives them.
_NAMES = {
    "jax.numpy": "jnp",
    "numpy": "np",
    "jax": "jax",
    "functools": "functools",
    "multiprocessing": "multiprocessing",
}


class Import(NamedTuple):
    """How a name is written where its module has been imported, and the edit that imports it."""

    spelled: str
    edit: Edit


def add(dotted: str, tree: ast.Module) -> Import | None:
    """Import the module of a dotted name (`jax.numpy.asarray`), for a file that has it under no name yet.

    The statement goes where the file's own order would have it: beside those of the same package, else among those
    of its kind (standard library, others), always below the docstring and `from __future__`. None where the usual
    name of the module means something else in this file, or the file has no place for it.
    """
    module = next((name for name in _NAMES if dotted.startswith(f"{name}.")), None)
    if module is None:
        return None
    name = _NAMES[module]
    if name in _names(tree):
        return None
    statement = f"import {module}" + ("" if name == module else f" as {name}")
    edit = _edit(statement, module, tree)
    return Import(name + dotted.removeprefix(module), edit) if edit is not None else None


def is_bound_otherwise(name: str, tree: ast.Module) -> bool:
    """Whether a name that a file imports is also a parameter, a variable, a definition or another import there."""
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.arg) and node.arg == name:
            return True
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == name:
            return True
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imported.update(_modules(node, name))
    return len(imported) > 1


def _modules(statement: ast.Import | ast.ImportFrom, name: str) -> Iterator[str]:
    """What an import gives a name to."""
    origin = f"{statement.module}." if isinstance(statement, ast.ImportFrom) else ""
    for alias in statement.names:
        if alias.asname == name:
            yield origin + alias.name
        elif alias.asname is None and alias.name.partition(".")[0] == name:
            yield origin + name


def _names(tree: ast.Module) -> Iterator[str]:
    """Every name that means something somewhere in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]


def _edit(statement: str, module: str, tree: ast.Module) -> Edit | None:
    head = list(_head(tree))
    imports = [s for s in head if isinstance(s, (ast.Import, ast.ImportFrom)) and not _is_future(s)]
    package = module.partition(".")[0]
    for near in (
        [s for s in imports if _package(s) == package],
        [s for s in imports if _is_standard(_package(s)) == _is_standard(package)],
    ):
        if near:
            before = [s for s in near if _key(s) <= (False, module)]
            return _below(before[-1], statement, tree) if before else _above(near[0], statement)
    if not imports:
        return _below(head[-1], statement, tree) if head else None
    if _is_standard(package):
        return _above(imports[0], f"{statement}\n")
    return _below(imports[-1], f"\n{statement}", tree)


def _head(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements before the first definition."""
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return
        yield statement


def _key(statement: ast.Import | ast.ImportFrom) -> tuple[bool, str]:
    """`import x` before `from x import y`, each by name: what sorters of imports do."""
    if isinstance(statement, ast.ImportFrom):
        return True, statement.module or ""
    return False, statement.names[0].name


def _package(statement: ast.Import | ast.ImportFrom) -> str:
    if isinstance(statement, ast.ImportFrom):
        return "." if statement.level else (statement.module or "").partition(".")[0]
    return statement.names[0].name.partition(".")[0]


def _is_standard(package: str) -> bool:
    return package in sys.stdlib_module_names


def _is_future(statement: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _above(statement: ast.stmt, text: str) -> Edit | None:
    if statement.col_offset:
        return None  # something else stands before it on its line
    return Edit(Span(statement.lineno, 1, statement.lineno, 1), f"{text}\n")


def _below(statement: ast.stmt, text: str, tree: ast.Module) -> Edit:
    last = statement.end_lineno or statement.lineno
    for other in tree.body:  # those that share its last line
        if statement.lineno < other.lineno <= last or (other.lineno == last and other is not statement):
            last = max(last, other.end_lineno or last)
    return Edit(Span(last + 1, 1, last + 1, 1), f"{text}\n")
