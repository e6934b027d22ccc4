"""Who else holds an array that an object has as an attribute, and that a call is about to give away."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ._aliases import held
from ._fresh import own
from ._holders import caller_keeps, is_drawn, is_parameter, is_used_again, keeps, shows

if TYPE_CHECKING:
    from jaxlint.context import Context


def attribute_held(attribute: str, ctx: Context) -> bool:
    """Whether some code of this file keeps what an attribute of that name holds, or gives the attribute what has a
    holder already. Of which object is not asked: a file seldom has one name for two things."""
    tree = ctx.focus.tree
    for scope, owner in _scopes(tree):
        for node in own(scope.body):
            if keeps(node, f".{attribute}", tree) or _hands_out(node, attribute, tree):
                return True
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and _comes_held(
                node, attribute, scope, owner, ctx
            ):
                return True
            if isinstance(node, ast.Call) and _made_with_kept(node, attribute, ctx.focus.tree):
                return True
    return False


def _scopes(tree: ast.AST, owner: str = "") -> Iterator[tuple[ast.Module | ast.FunctionDef, str]]:
    """The module and its functions, each with the class that it is a method of, or ""."""
    if isinstance(tree, ast.Module):
        yield tree, ""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node, owner
        yield from _scopes(node, node.name if isinstance(node, ast.ClassDef) else "")


def _hands_out(node: ast.AST, attribute: str, tree: ast.Module) -> bool:
    """`return self.params`: who called may keep it."""
    return (
        isinstance(node, ast.Return) and node.value is not None and shows(node.value, f".{attribute}", tree)
    )


def _is_set(node: ast.Assign | ast.AnnAssign, attribute: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    parts = (p for t in targets for p in (t.elts if isinstance(t, (ast.Tuple, ast.List)) else [t]))
    return any(isinstance(part, ast.Attribute) and part.attr == attribute for part in parts)


def _comes_held(
    node: ast.Assign | ast.AnnAssign,
    attribute: str,
    scope: ast.Module | ast.FunctionDef,
    owner: str,
    ctx: Context,
) -> bool:
    """The attribute gets what has a name or a place already, and keeps it: `self.params = params`."""
    if not _is_set(node, attribute):
        return False
    if isinstance(node, ast.Assign) and len(node.targets) > 1:
        return True
    value, tree = node.value, ctx.focus.tree
    if value is None or (is_drawn(value) and not isinstance(value, ast.Name)):
        return value is not None
    roots = [root for root in held(value, tree) if getattr(root, "attr", "") != attribute]
    return any(isinstance(r, ast.Attribute) or _is_held_by(r.id, node, scope, owner, tree) for r in roots)


def _is_held_by(
    name: str, node: ast.stmt, scope: ast.Module | ast.FunctionDef, owner: str, tree: ast.Module
) -> bool:
    """Whether a name that a statement gives an attribute has another holder, in its function or its callers."""
    if any(keeps(other, name, tree) for other in own(scope.body) if other is not node):
        return True
    if isinstance(scope, ast.Module) or not is_parameter(scope, name):
        return is_used_again(name, node, tree)
    return caller_keeps(scope, owner if scope.name == "__init__" else scope.name, name, tree)


def _made_with_kept(call: ast.Call, attribute: str, tree: ast.Module) -> bool:
    """`State(params=params)`, where the name is read further on."""
    given = (keyword.value for keyword in call.keywords if keyword.arg == attribute)
    return any(
        isinstance(root, ast.Attribute) or is_used_again(root.id, call, tree)
        for value in given
        for root in held(value, tree)
    )
