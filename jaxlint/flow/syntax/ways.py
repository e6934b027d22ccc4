"""All that binds a name, by syntax: each way is an expression, and which member of a member of it the name gets."""

from __future__ import annotations

import ast
from copy import copy

from jaxlint.index.walking import own_nodes

EACH = -1  # in a way: whichever member

Way = tuple[ast.expr, tuple[int, ...]]


def bound_in(scope: ast.AST) -> dict[str, list[Way] | None]:
    """What binds each name of a function or module; None where not everything that does is understood."""
    known: dict[str, list[Way] | None] | None = scope.__dict__.get("ways")
    if known is not None:
        return known
    found: dict[str, list[Way]] = {}
    stores: dict[str, int] = {}
    for node in own_nodes(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                _bind(found, target, node.value, ())
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            _bind(found, node.target, node.value, ())
        elif isinstance(node, (ast.For, ast.comprehension)):
            _bind(found, node.target, node.iter, (EACH,))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, (ast.Name, ast.Attribute)):
            old = copy(node.target)
            old.ctx = ast.Load()
            _bind(found, node.target, ast.BinOp(old, node.op, node.value), ())
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            name = _own_name(node)
            stores[name] = stores.get(name, 0) + 1
    ways: dict[str, list[Way] | None] = {
        name: found[name] if len(found.get(name, ())) == count else None for name, count in stores.items()
    }
    scope.ways = ways  # type: ignore[attr-defined]  # once for each tree
    return ways


def _bind(found: dict[str, list[Way]], target: ast.expr, value: ast.expr, path: tuple[int, ...]) -> None:
    if isinstance(target, (ast.Name, ast.Attribute)):
        found.setdefault(_own_name(target), []).append((value, path))
    elif isinstance(target, (ast.Tuple, ast.List)):
        for position, item in enumerate(target.elts):
            _bind(found, item, value, (*path, position))


def _own_name(node: ast.Name | ast.Attribute) -> str:
    """`state` or `self.state`; attributes of other things stand under a name that nobody asks for."""
    if isinstance(node, ast.Name):
        return node.id
    return f"self.{node.attr}" if isinstance(node.value, ast.Name) and node.value.id == "self" else ""


def parameters_of(scope: ast.AST) -> set[str]:
    args = getattr(scope, "args", None)
    if not isinstance(args, ast.arguments):
        return set()
    rest = [a for a in (args.vararg, args.kwarg) if a is not None]
    return {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs, *rest)}
