"""Settings that a loop takes from a table: `for name, value in OPTIONS.items(): config.update(name, value)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.flow.domain.kinds import CONSTANT, TREE
from jaxlint.flow.domain.values import Value, tree
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import look
from jaxlint.index.walking import walk

_LONGEST = 32  # rows of a table


def settings(frame: Frame, key: ast.expr, value: ast.expr) -> Iterator[tuple[Value, Value]]:
    """What a setting's key and value are in each round of the loop that names them."""
    names = {n.id for n in walk(key) if isinstance(n, ast.Name)}
    for loop in reversed(frame.loops):
        targets = _names(loop.node.target) if isinstance(loop.node, (ast.For, ast.AsyncFor)) else []
        if names.isdisjoint(targets):
            continue
        assert isinstance(loop.node, (ast.For, ast.AsyncFor))
        before = frame.names
        for row in _rows(frame, loop.node.iter):
            members = row.data if row.kind == TREE and row.data.__class__ is list else [row]
            if len(members) == len(targets):
                frame.names = {**before, **dict(zip(targets, members, strict=True))}
                yield look(frame, key), look(frame, value)
        frame.names = before
        return


def _names(target: ast.expr) -> list[str]:
    members = target.elts if isinstance(target, ast.Tuple) else [target]
    return [member.id for member in members if isinstance(member, ast.Name)]


def _rows(frame: Frame, source: ast.expr) -> list[Value]:
    """What a loop goes through, where that is a table in view."""
    is_items = isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and not source.args
    if is_items and source.func.attr == "items":  # type: ignore[attr-defined]  # a method, as is_items says
        table = look(frame, source.func.value)  # type: ignore[attr-defined]  # as above
        pairs = table.data.items() if table.kind == TREE and table.data.__class__ is dict else ()
        return [tree([Value(CONSTANT, data=key), value]) for key, value in pairs][:_LONGEST]
    table = look(frame, source)
    if table.kind != TREE:
        return []
    if table.data.__class__ is dict:
        return [Value(CONSTANT, data=key) for key in table.data][:_LONGEST]
    return table.data[:_LONGEST] if table.data.__class__ is list else []
