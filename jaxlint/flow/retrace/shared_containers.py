"""One container under several names: what one name changes in it, the others read."""

from __future__ import annotations

import ast
from typing import NamedTuple

from jaxlint.flow.domain.boundary_state import Read
from jaxlint.flow.domain.kinds import CONSTANT, TREE
from jaxlint.flow.domain.values import Value, parts
from jaxlint.flow.frame import Call, Frame
from jaxlint.index.walking import nodes_of
from jaxlint.index.written_names import dotted_name

_DEPTH = 2  # of containers in containers


class Held(NamedTuple):
    """A container that is changed in place, and which of its items; None where that is not known."""

    value: Value
    items: frozenset[object] | None


def held(frame: Frame, value: Value, items: frozenset[object] | None) -> Held | None:
    """A container that code in progress wrote out: there is one of it. What a finished function made may be one of
    several, which have one value."""
    made = value.origin
    if value.kind != TREE or made is None or not isinstance(made.node, (ast.Dict, ast.List, ast.Call)):
        return None
    for running in frame.run.stack:
        scope = running.function.node if running.function is not None else running.module.tree
        if running.module is made.module and _within(made.node, scope):
            return Held(value, items)
    return None


def _within(node: ast.expr, scope: ast.AST) -> bool:
    if isinstance(scope, ast.Module):
        return True
    first, last = getattr(scope, "lineno", 0), getattr(scope, "end_lineno", 0)
    return first <= node.lineno <= last


def item_of(frame: Frame, value: Value, index: Value) -> Held | None:
    """`container[index] = …`."""
    return held(frame, value, frozenset([index.data]) if index.kind == CONSTANT else None)


def items_of(frame: Frame, value: Value, name: str, call: Call) -> Held | None:
    """`container.update(key=…)`, `container.update({"key": …})`, or another method that changes it."""
    first = call.positional[0] if call.positional else None
    if name == "update" and (first is None or first.data.__class__ is dict):
        return held(frame, value, frozenset([*call.keywords, *(first.data if first is not None else ())]))
    keyed = name in ("pop", "setdefault") and first is not None and first.kind == CONSTANT
    return held(frame, value, frozenset([first.data]) if keyed and first is not None else None)


def reads_changed(read: Read, change: Held) -> bool:
    """Whether a read is one of the items of a container that change."""
    if read.value is None or not _is_in(change.value, read.value):
        return False
    asked = _asked(read) if _is_in(change.value, read.value, _DEPTH) else None
    return change.items is None or asked is None or not change.items.isdisjoint(asked)


def _is_in(container: Value, value: Value, depth: int = 0) -> bool:
    if value is container or (value.data.__class__ is dict and value.data is container.data):
        return True
    return (
        depth < _DEPTH and value.kind == TREE and any(_is_in(container, v, depth + 1) for v in parts(value))
    )


def _asked(read: Read) -> set[object] | None:
    """The items that a module asks of the name of a read; None where it does more with it."""
    name = dotted_name(read.node)
    subscripts = [n for n in nodes_of(read.module.tree, ast.Subscript) if dotted_name(n.value) == name]
    if not any(n.value is read.node for n in subscripts):
        return None
    items = [n.slice.value for n in subscripts if isinstance(n.slice, ast.Constant)]
    inner = {id(n.value) for n in nodes_of(read.module.tree, ast.Subscript)}
    return None if any(id(n) in inner for n in subscripts) or len(items) < len(subscripts) else set(items)
