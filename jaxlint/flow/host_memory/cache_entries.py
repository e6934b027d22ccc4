"""What a cache is keyed by, and what it keeps alive."""

from __future__ import annotations

import ast

from jaxlint.flow.calls.instances import holds_arrays
from jaxlint.flow.domain.kinds import (
    CONCRETE,
    CONSTANT,
    FOREIGN,
    FUNCTION,
    INSTANCE,
    SHAPE,
    TRACERS,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.tags import BOUNDED, TEXT
from jaxlint.flow.domain.values import PER_ITERATION, Choices, Value, parts
from jaxlint.flow.frame import Frame
from jaxlint.index.walking import walk
from jaxlint.index.written_names import last_name

_DATA_WORDS = frozenset({"shape", "tobytes", "hexdigest", "digest", "id", "hash"})


def key_open_of(frame: Frame, node: ast.expr, index: Value) -> bool | None:
    """Whether new keys keep coming: from data, shapes, an iteration or whatever the caller passes."""
    if index.kind == CONSTANT:
        return False
    if index.tags & BOUNDED or isinstance(index.data, Choices):
        return False
    if index.kind == TREE and index.data:
        members = [key_open_of(frame, node, v) for v in parts(index)]
        return True if True in members else None if None in members else False
    if index.varies >= PER_ITERATION:
        return True
    for child in walk(node):
        if last_name(child) in _DATA_WORDS:
            return True
    if index.kind == SHAPE or index.kind in CONCRETE:
        return True
    if index.kind == TREE and any(key_open_of(frame, node, v) for v in parts(index)):
        return True  # of any number of members
    if index.tags & TEXT and index.varies:
        return True
    return None


def is_array(value: Value) -> bool:
    if value.kind in CONCRETE or value.kind in TRACERS:
        return True
    return value.kind == TREE and any(is_array(v) for v in parts(value))


def is_compiled(value: Value) -> bool:
    return value.kind == FUNCTION or (
        value.kind == UNKNOWN and value.origin is not None and value.origin.word == "compiled"
    )


def pinned_by(keys: list[Value]) -> str:
    """The class of an object that holds arrays and is hashed by identity, or of a model of a known library."""
    for value in keys:
        if (
            value.kind == INSTANCE
            and value.data.cls.family not in ("equinox", "enum")
            and holds_arrays(value)
        ):
            return str(value.data.cls.name)
        if value.kind == FOREIGN and value.data.api.startswith("flax.nnx."):
            return str(value.data.api.rpartition(".")[2])
    return ""
