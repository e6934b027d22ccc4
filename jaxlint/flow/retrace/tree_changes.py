"""Two trees, part by part: what is another thing in the second, and where that part of the first was written."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from jaxlint.flow.domain.kinds import CONCRETE, CONSTANT, INSTANCE, SCALAR, TRACED, TREE
from jaxlint.flow.domain.tags import INTEGER, NOTHING_OR, STRONG, TYPES
from jaxlint.flow.domain.values import Value, is_number
from jaxlint.flow.precision.weak_types import is_weak
from jaxlint.flow.program import LoadedModule

_ARRAYS = (*CONCRETE, TRACED)  # the fields of an object that a boundary returns are as they are in its trace


class Start(NamedTuple):
    """Where a value was written, as far as its own origin does not tell."""

    module: LoadedModule
    node: ast.AST | None


class Change(NamedTuple):
    """A part that is another thing from the second round on. `what`: "none", "keys", "length", "empty" or "weak";
    `whole`: a weak number becomes an array of integers."""

    what: str
    path: str
    start: Start
    whole: bool


def changes(before: Value, after: Value, start: Start, path: str = "", depth: int = 0) -> Iterator[Change]:
    """The parts that are something else after a round."""
    start = own_start(before, start)
    if before.kind == CONSTANT and before.data is None:
        if after.kind in (*_ARRAYS, TREE, INSTANCE, SCALAR) or is_number(after) or after.tags & NOTHING_OR:
            yield Change("none", path, start, False)
    elif is_weak(before) and after.kind in _ARRAYS and after.tags & TYPES:
        whole = type(before.data) is int or bool(before.tags & INTEGER)
        to_whole = bool(after.tags & INTEGER)
        if (after.tags & STRONG and (whole or not to_whole)) or (whole and not to_whole):
            yield Change("weak", path, start, to_whole)
    elif depth > 3:
        return
    elif before.kind == after.kind == TREE:
        yield from _in_trees(before, after, start, path, depth)
    elif before.kind == after.kind == INSTANCE and before.data.cls is after.data.cls:
        for name, field in before.data.fields.items():
            new = after.data.fields.get(name)
            if new is not None and before.data.cls.is_pytree_value:
                yield from changes(field, new, field_start(start, name), f"{path}.{name}", depth + 1)
    elif _is_empty(before) and after.kind in (*_ARRAYS, INSTANCE):
        yield Change("empty", path, start, False)


def _is_empty(value: Value) -> bool:
    return value.kind == TREE and value.data is not None and not value.data


def _in_trees(before: Value, after: Value, start: Start, path: str, depth: int) -> Iterator[Change]:
    old, new = before.data, after.data
    if old.__class__ is list and new.__class__ is list:
        if len(old) != len(new):
            yield Change("length", path, start, False)
            return
        for i, (was, now) in enumerate(zip(old, new, strict=True)):
            yield from changes(was, now, item_start(start, i), f"{path}[{i}]", depth + 1)
    elif old.__class__ is dict and new.__class__ is dict:
        if old.keys() != new.keys():
            yield Change("keys", path, start, False)
            return
        for key, was in old.items():
            yield from changes(was, new[key], item_start(start, key), f"{path}[{key!r}]", depth + 1)
    elif _is_empty(before) and new is None and after.element is not None:
        yield Change("empty", path, start, False)


def own_start(value: Value, start: Start) -> Start:
    """Where a value was written: a display or a literal says so itself."""
    origin = value.origin
    if origin is None or not hasattr(origin.node, "lineno") or origin.word == "field":
        return start
    return Start(origin.module, origin.node)


def item_start(start: Start, key: object) -> Start:
    """The member of a display."""
    node = start.node
    if isinstance(node, (ast.Tuple, ast.List)) and type(key) is int and key < len(node.elts):
        return Start(start.module, node.elts[key])
    if isinstance(node, ast.Dict):
        for name, value in zip(node.keys, node.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key:
                return Start(start.module, value)
    return start


def field_start(start: Start, name: str) -> Start:
    """The argument of a constructor."""
    node = start.node
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg == name:
                return Start(start.module, keyword.value)
    return start


def leaves(
    before: Value, after: Value, start: Start, path: str = ""
) -> Iterator[tuple[Value, Value, str, Start]]:
    """(first, later, path, where the first was written) of the leaves of two trees of one structure."""
    start = own_start(before, start)
    if before.kind != after.kind or before.kind not in (TREE, INSTANCE):
        yield before, after, path, start
        return
    old, new = members(before), members(after)
    if old.keys() != new.keys() or path.count(".") + path.count("[") > 3:
        return
    for key, was in old.items():
        if before.kind == INSTANCE:
            yield from leaves(was, new[key], field_start(start, key), f"{path}.{key}")
        else:
            yield from leaves(was, new[key], item_start(start, key), f"{path}[{key!r}]")


def members(value: Value) -> dict[Any, Value]:
    """The members of a display or the fields of a pytree object by key; none where they are not known apart."""
    if value.kind == INSTANCE:
        return value.data.fields if value.data.cls.is_pytree_value else {}
    if value.data.__class__ is list:
        return dict(enumerate(value.data))
    return value.data if value.data.__class__ is dict else {}


def with_members(value: Value, members: dict[Any, Value]) -> Value:
    """The same tree with other members."""
    data: Any = members
    if value.kind == INSTANCE:
        data = value.data.described()
        data.fields = members
    elif value.data.__class__ is list:
        data = list(members.values())
    return Value(value.kind, value.varies, value.tags, data, None, value.origin, value.size)
