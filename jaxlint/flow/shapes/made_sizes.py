"""Arrays and lists that are made with a size which is not the same each time."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.joining import join_all
from jaxlint.flow.domain.kinds import TREE
from jaxlint.flow.domain.origin_words import FEW, LENGTH, PARTIAL, PERHAPS_PARTIAL, SIZE
from jaxlint.flow.domain.tags import RAGGED
from jaxlint.flow.domain.values import Origin, Value, collection, parts
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.shapes.size_movement import movement
from jaxlint.flow.shapes.slices import of_slice

Sizes = tuple[tuple[int, ...], tuple[str, ...]]  # positions and keywords of what must be static sizes


def made_to_size(frame: Frame, kind: int, table: Sizes | None, last: str, call: Call) -> Value | None:
    """An array that a function makes with a size which is not the same each time."""
    if table is None or last in _NO_SIZES or frame.level:
        return None
    if last == "arange" and len(call.positional) > 1:
        return _arange(frame, kind, call)
    positions, keywords = table
    given = [(call.argument_node(p), call.positional[p]) for p in positions if p < len(call.positional)]
    given += [(call.argument_node(99, w), call.keywords[w]) for w in keywords if w in call.keywords]
    for node, value in given:
        found = size(frame, kind, node or call.node, value)
        if found is not None:
            return found
    return None


# Of those that take sizes: what pads to one, and what takes no size of the result.
_NO_SIZES = frozenset({"pad", "expand_dims", "rot90", "split", "array_split", "hsplit", "vsplit"})


def size(frame: Frame, kind: int, node: ast.AST, value: Value) -> Value | None:
    """An array of this shape, where a member of the shape moves."""
    members: list[tuple[ast.AST, Value]] = [(node, value)]
    if value.kind == TREE and value.data.__class__ is list:
        nodes = node.elts if isinstance(node, (ast.Tuple, ast.List)) else []
        exact = len(nodes) == len(value.data)
        members = [(nodes[i] if exact else node, member) for i, member in enumerate(value.data)]
    for at, member in members:
        moving = movement(frame, at, member)
        if moving is not None:
            origin = Origin(frame.module, node, FEW if moving.few else SIZE)
            return Value(kind, moving.varies, RAGGED, None, None, origin)
    return None


def _arange(frame: Frame, kind: int, call: Call) -> Value | None:
    nodes = [call.argument_node(0), call.argument_node(1)]
    if nodes[0] is None or nodes[1] is None:
        return None
    between = ast.copy_location(ast.Slice(nodes[0], nodes[1]), call.node)
    found = of_slice(frame, between)
    if found is None or found.origin is None or found.origin.word in (PARTIAL, PERHAPS_PARTIAL):
        return None
    return Value(kind, found.varies, RAGGED, None, None, found.origin)


def repeated(frame: Frame, container: Value, times: Value, node: ast.AST) -> Value:
    """`[0] * n`: a list whose length may not be the same each time."""
    members = parts(container)
    element = join_all(members) if members else None
    moving = movement(frame, None, times)
    if moving is None:
        return collection(element, container.origin)
    origin = Origin(frame.module, node, FEW if moving.few else LENGTH)
    return Value(TREE, moving.varies, RAGGED, None, element, origin)
