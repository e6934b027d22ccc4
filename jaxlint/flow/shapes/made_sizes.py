"""Arrays and lists that are made with a size which is not the same each time."""

from __future__ import annotations

import ast
from typing import NamedTuple

from jaxlint.flow.domain.joining import join_all
from jaxlint.flow.domain.kinds import TREE
from jaxlint.flow.domain.origin_words import FEW, LENGTH, PARTIAL, PERHAPS_PARTIAL, SIZE
from jaxlint.flow.domain.tags import RAGGED
from jaxlint.flow.domain.values import Origin, Value, collection, parts
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.shapes.size_movement import movement
from jaxlint.flow.shapes.slices import of_slice
from jaxlint.flow.syntax.bindings import resolved
from jaxlint.index.walking import walk
from jaxlint.index.written_names import last_name


class Moving(NamedTuple):
    """`Origin.extra` of an array of a size that is not the same each time."""

    first_only: bool  # no axis but the first one moves
    missing: bool  # it is as long as something else is too short: `np.zeros(n - len(x))`


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
    moves = [movement(frame, at, member) for at, member in members]
    moving = next((found for found in moves if found is not None), None)
    missing = _is_missing(frame, node)
    if moving is None:
        extra = Moving(True, missing)
        return Value(kind, origin=Origin(frame.module, node, SIZE, extra)) if missing else None
    extra = Moving(len(moves) > 1 and not any(moves[1:]), missing)
    origin = Origin(frame.module, node, FEW if moving.few else SIZE, extra)
    return Value(kind, moving.varies, RAGGED, None, None, origin)


def _is_missing(frame: Frame, node: ast.AST) -> bool:
    """`n - len(x)`, in a size or in what a name of it is bound to."""
    bound = (resolved(frame, part) for part in walk(node) if isinstance(part, ast.Name))
    return any(
        isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub) and _asks_length(frame, part.right)
        for whole in (node, *bound)
        for part in walk(whole)
    )


def _asks_length(frame: Frame, node: ast.expr) -> bool:
    return any(
        last_name(part.func) == "len" if isinstance(part, ast.Call) else part.attr in ("shape", "size")
        for part in walk(resolved(frame, node))
        if isinstance(part, (ast.Call, ast.Attribute))
    )


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
