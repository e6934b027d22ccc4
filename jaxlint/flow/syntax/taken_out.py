"""What the statements after a call take out of its result: `out = step(u, v)`, `u = out[0]`, `v = out.v`."""

from __future__ import annotations

import ast
from itertools import takewhile

from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import scope_of
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name


def taken_out(frame: Frame, statement: ast.stmt | None) -> list[str]:
    """The names that get the members of what a statement binds, one after the other, where nothing else is done
    with the whole: whoever kept it would keep its members."""
    target = (
        statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    )
    if not isinstance(target, ast.Name):
        return []
    scope = scope_of(frame)
    nodes = [n for n in walk(scope) if isinstance(n, ast.Name) and n.id == target.id]
    members = [s for s in own_nodes(scope) if _member(s, target.id) is not None]
    if sum(isinstance(n.ctx, ast.Load) for n in nodes) != len(members):
        return []
    names = (_member(s, target.id) for s in _following(scope, statement))
    return [name for name in takewhile(lambda name: name is not None, names) if name is not None]


def _following(scope: ast.AST, statement: ast.stmt | None) -> list[ast.stmt]:
    """The statements after one in its block."""
    for node in (scope, *own_nodes(scope)):
        for field in ("body", "orelse", "finalbody"):
            block: list[ast.stmt] = getattr(node, field, None) or []
            places = [i for i, s in enumerate(block) if s is statement] if isinstance(block, list) else []
            if places:
                return block[places[0] + 1 :]
    return []


def _member(statement: ast.AST, whole: str) -> str | None:
    """The name that a statement binds to a member of the whole."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    value = statement.value
    if isinstance(value, ast.Subscript) and not isinstance(value.slice, ast.Constant):
        return None
    if not isinstance(value, (ast.Subscript, ast.Attribute)) or dotted_name(value.value) != whole:
        return None
    return dotted_name(statement.targets[0])
