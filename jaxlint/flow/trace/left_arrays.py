"""What the rounds of a Python loop leave behind, and whether arrays are in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.flow.domain.kinds import INSTANCE, TRACERS
from jaxlint.flow.domain.values import Value, parts
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import look
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name

_FILLING = frozenset({"append", "extend", "insert"})


def leaves_arrays(frame: Frame, node: ast.For | ast.While) -> bool:
    """Whether the rounds leave arrays behind: in a name or a field, in a container they fill, or in an object whose
    method they call for its effect alone."""
    for child in all_nodes(node.body):
        if isinstance(child, (ast.Name, ast.Attribute)) and isinstance(child.ctx, ast.Store):
            known = frame.names.get(child.id) if isinstance(child, ast.Name) else look(frame, child)
            if known is not None and holds_tracers(known):
                return True
        if _is_stored_on(frame, child):
            return True
        filled = stored(child)
        if filled is not None and holds_tracers(look(frame, filled[1])):
            return True
    return False


def _is_stored_on(frame: Frame, node: ast.AST) -> bool:
    """`rod.tick()`, where the method stores on `self` and the object holds tracers."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    owner = look(frame, call.func.value)
    if owner.kind != INSTANCE or not holds_tracers(owner):
        return False
    function = owner.data.cls.lookup(call.func.attr)
    return function is not None and any(
        isinstance(n, ast.Attribute)
        and isinstance(n.ctx, ast.Store)
        and dotted_name(n.value) in function.params[:1]
        for n in own_nodes(function.node)
    )


def stored(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The container and what `p.append(x)`, `p += [x]` and `p[i] = x` put into it."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        return (node.func.value, node.args[-1]) if node.func.attr in _FILLING else None
    if isinstance(node, ast.AugAssign) and isinstance(node.value, ast.List):
        return node.target, node.value
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        return node.targets[0], node.value
    return None


def holds_tracers(value: Value, depth: int = 3) -> bool:
    if value.kind in TRACERS:
        return True
    return depth > 0 and any(holds_tracers(member, depth - 1) for member in parts(value))


def all_nodes(body: list[ast.stmt] | list[ast.expr]) -> Iterator[ast.AST]:
    for child in body:
        yield from walk(child)
