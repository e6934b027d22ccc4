"""Slices whose length is not the same each time, and those that have one length whatever they are cut from."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import SHAPE
from jaxlint.flow.domain.origin_words import BOUND, FEW
from jaxlint.flow.domain.tags import EVEN, RAGGED
from jaxlint.flow.domain.values import PER_ITERATION, Origin, Value
from jaxlint.flow.frame import Frame
from jaxlint.flow.retrace.last_batches import cut_short
from jaxlint.flow.shapes.size_movement import movement
from jaxlint.flow.shapes.widths import width
from jaxlint.flow.syntax.bindings import look, resolved


def sliced(frame: Frame, index: ast.expr) -> Value | None:
    """What a slice makes of a shape: ragged, with why and how it varies; even, where `[i * size : (i + 1) * size]`
    takes another part of one length each time; None where nothing moves."""
    if frame.level:
        return None  # a slice of traced code is part of its trace
    if not isinstance(index, ast.Tuple):
        return of_slice(frame, index) if isinstance(index, ast.Slice) else None
    found = (of_slice(frame, item) for item in index.elts if isinstance(item, ast.Slice))
    cut = next((cut for cut in found if cut is not None and cut.tags & RAGGED), None)
    if cut is None or cut.origin is None:
        return None
    return cut.but(origin=cut.origin._replace(node=index))  # the whole: which axis is cut stands in it


def of_slice(frame: Frame, item: ast.Slice) -> Value | None:
    bounds = [bound for bound in (item.lower, item.upper) if bound is not None]
    moving = [m for bound in bounds if (m := movement(frame, bound, look(frame, bound))) is not None]
    if not moving:
        return None
    varies = max(m.varies for m in moving)
    few = len(moving) == 1 and moving[0].few
    if item.lower is None or item.upper is None:
        return _ragged(frame, item, FEW if few else BOUND, varies)
    between = width(frame, item.lower, item.upper)
    if any(movement(frame, node, look(frame, node)) for node in between.nodes()):
        return _ragged(frame, item, FEW if few else BOUND, varies)
    word = cut_short(frame, item.lower, between)
    return _ragged(frame, item, word, PER_ITERATION) if word else Value(SHAPE, PER_ITERATION, EVEN)


def names_stretch(frame: Frame, node: ast.expr) -> bool:
    """Whether an expression, or what its name was bound to, is another part of one length each time."""
    made = resolved(frame, node)
    cut = sliced(frame, made.slice) if isinstance(made, ast.Subscript) else None
    return cut is not None and bool(cut.tags & EVEN)


def _ragged(frame: Frame, node: ast.AST, word: str, varies: int) -> Value:
    return Value(SHAPE, varies, RAGGED, None, None, Origin(frame.module, node, word))


def settled_by(index: ast.expr) -> bool:
    """`x[:k]` and `x[-k:]` have one length, whatever that of `x` is, once there are so many."""
    first = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
    if not isinstance(first, ast.Slice):
        return False
    from_end = isinstance(first.lower, ast.UnaryOp) and isinstance(first.lower.op, ast.USub)
    to_end = isinstance(first.upper, ast.UnaryOp) and isinstance(first.upper.op, ast.USub)
    return (first.upper is not None and not to_end) or (from_end and first.upper is None)
