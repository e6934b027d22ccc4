"""What a syntax tree binds, reads and calls."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORT = (ast.Import, ast.ImportFrom)


def bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list):
                yield body


def places(tree: ast.AST) -> Iterator[tuple[list[ast.stmt], int, ast.stmt]]:
    """Each statement with its body and its place there, the last first, so that the body may be edited."""
    for body in bodies(tree):
        for index in range(len(body) - 1, -1, -1):
            yield body, index, body[index]


def stored(statements: Iterable[ast.AST]) -> set[str]:
    """What statements bind at their own level."""
    return {name for statement in statements for name in _binds(statement)}


def _binds(node: ast.AST) -> Iterator[str]:
    if isinstance(node, DEFINITION):
        yield node.name
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    if not isinstance(node, (*DEFINITION, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            yield from _binds(child)


def loaded(statements: Iterable[ast.AST]) -> set[str]:
    nodes = (node for statement in statements for node in ast.walk(statement))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def bound(tree: ast.AST) -> set[str]:
    """Every name that is bound anywhere, imports aside."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, DEFINITION):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
    return names


def last_name(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2] if isinstance(node, (ast.Name, ast.Attribute)) else ""


def movable(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a module that no definition, and nothing that stays, has need of, and that run last."""
    docstring = body[:1] if body and ast.get_docstring(ast.Module(body, [])) is not None else []
    stays = [s for s in body if isinstance(s, (*IMPORT, *DEFINITION)) or s in docstring]
    moved = [s for s in body if s not in stays]
    while True:
        needed = [s for s in moved if stored([s]) & loaded(stays)]
        if not needed:
            last = max(
                (i for i, s in enumerate(body) if s in stays and not isinstance(s, DEFINITION)), default=-1
            )
            return [s for s in moved if body.index(s) > last]
        stays += needed
        moved = [s for s in moved if s not in needed]
