"""How many elements the arrays of a value have together, at most; None where what is in view does not say."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.classes import ClassInfo
from jaxlint.flow.domain.kinds import (
    API,
    BOUNDARY,
    CLASS,
    CONSTANT,
    DTYPE,
    FUNCTION,
    INSTANCE,
    MODULE,
    NUMBERS,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.tags import SMALL, TEXT
from jaxlint.flow.domain.values import MEBIBYTE, UNKNOWN_VALUE, Value, parts
from jaxlint.index.written_names import dotted_name

_DEPTH = 5
_STATIC = frozenset((API, BOUNDARY, CLASS, DTYPE, FUNCTION, MODULE))
# Bases that add no field to what a class of the project says.
_PLAIN_BASES = frozenset(
    {"Module", "NamedTuple", "PyTreeNode", "Generic", "Protocol", "ABC", "object", "Pytree"}
)


def element_count(value: Value, depth: int = _DEPTH) -> int | None:
    """A bound on the number of elements of all arrays in a value; a number counts as one."""
    kind = value.kind
    if kind in NUMBERS:
        return 0 if kind == CONSTANT and not isinstance(value.data, (int, float)) else 1
    if kind in _STATIC or value.tags & TEXT:
        return 0
    if value.size is not None:
        return value.size
    if not depth:
        return None
    if kind == TREE:
        return None if value.data is None else _sum(parts(value), depth)
    if kind == INSTANCE:
        thing = value.data
        static = thing.cls.all_static_fields()
        whole = _is_in_view(thing.cls) and set(thing.cls.all_fields()) <= set(thing.fields)
        return _sum([v for n, v in thing.fields.items() if n not in static], depth) if whole else None
    return None


def _sum(values: list[Value], depth: int) -> int | None:
    total = 0
    for value in values:
        count = element_count(value, depth - 1)
        if count is None:
            return None
        total += count
    return total


def _is_in_view(cls: ClassInfo) -> bool:
    """Whether all that makes an object of a class is the project's own."""
    named = [dotted_name(b.value if isinstance(b, ast.Subscript) else b) or "" for b in cls.node.bases]
    own = {base.name for base in cls.bases}
    known = (name.rpartition(".")[2] for name in named)
    return all(name in own or name in _PLAIN_BASES for name in known) and all(map(_is_in_view, cls.bases))


def unknown_of(whole: Value | None) -> Value:
    """What is not known but for its size: arrays that a value holds."""
    count = element_count(whole) if whole is not None else None
    return UNKNOWN_VALUE if count is None else Value(UNKNOWN, size=max(count, 2))  # no number: perhaps a tree


def unsized(value: Value, depth: int = _DEPTH) -> Value:
    """The value, where it is not known how large it has become."""
    if value.kind == INSTANCE and depth:
        thing = value.data.described()
        thing.fields = {name: unsized(field, depth - 1) for name, field in thing.fields.items()}
        return Value(INSTANCE, value.varies, value.tags & ~SMALL, thing, value.element, value.origin)
    if value.size is None and not value.tags & SMALL:
        return value
    return Value(value.kind, value.varies, value.tags & ~SMALL, value.data, value.element, value.origin)


def is_small(value: Value) -> bool:
    """Proven under 1 MiB from shapes in view."""
    kind = value.kind
    if value.tags & SMALL or kind in NUMBERS:
        return True
    if value.size is not None:
        return value.size < MEBIBYTE
    if kind != TREE and kind != INSTANCE:
        return False
    members = parts(value)
    if members and all(is_small(member) for member in members):
        return True
    return kind == INSTANCE and (element_count(value) or MEBIBYTE) < MEBIBYTE
