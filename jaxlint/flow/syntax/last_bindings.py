"""What a name or an attribute of `self` was bound to last, by syntax: the last assignment above a line."""

from __future__ import annotations

import ast

from jaxlint.flow.program import LoadedModule
from jaxlint.flow.syntax.stored_fields import CONSTRUCTORS
from jaxlint.index.walking import own_assignments, own_nodes, walk


def last_binding(scope: ast.AST, name: str, before: int) -> tuple[ast.expr, int | None] | None:
    """The last assignment of a name above a line, and its position in what is unpacked there."""
    found: tuple[ast.expr, int | None] | None = None
    body = scope.body if isinstance(scope, ast.Lambda) else scope
    for node in own_assignments(body):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and node.lineno < before:
            if node.value.end_lineno is not None and node.value.end_lineno >= before:
                continue
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                bound = _in_target(target, node.value, name)
                found = bound or found
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.With, ast.AugAssign)) and node.lineno < before:
            target_nodes = walk(node.target) if not isinstance(node, ast.With) else iter(())
            if any(isinstance(t, ast.Name) and t.id == name for t in target_nodes):
                made = node.iter if isinstance(node, (ast.For, ast.AsyncFor)) else node.value  # type: ignore[union-attr]  # a `with` never gets here
                found = ast.copy_location(ast.Await(made), made), None  # something new each time
    return found


def _in_target(target: ast.expr, value: ast.expr, name: str) -> tuple[ast.expr, int | None] | None:
    if isinstance(target, ast.Name):
        return (value, None) if target.id == name else None
    if isinstance(target, (ast.Tuple, ast.List)):
        matched = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
        for position, item in enumerate(target.elts):
            if isinstance(item, ast.Name) and item.id == name:
                if matched:
                    return value.elts[position], None  # type: ignore[attr-defined]  # a display if matched
                return value, position
    return None


def stored_attribute(module: LoadedModule, attr: str) -> tuple[ast.AST, ast.expr] | None:
    """What the constructor stores on `self.attr`, if it does so once."""
    found: list[tuple[ast.AST, ast.expr]] = []
    for function in module.functions.values():
        if function.name not in CONSTRUCTORS:
            continue
        for node in own_nodes(function.node):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Attribute) and target.attr == attr:
                        found.append((function.node, node.value))
    return found[0] if len(found) == 1 else None
