"""How much a scan or a map stacks: a number for each step, or so many elements for so many steps."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.kinds import CONSTANT, NUMBERS, TREE
from jaxlint.flow.domain.values import MEBIBYTE, Value, parts
from jaxlint.flow.evaluations import Evaluation, entered_by, with_all_called
from jaxlint.flow.frame import Frame
from jaxlint.flow.run import Run
from jaxlint.flow.shapes.array_shapes import ArrayShapes
from jaxlint.flow.shapes.shape_values import Items, elements

# Of the transforms those that run a function for many values at once: a Jacobian, for each direction.
_MAPPING = frozenset({"vmap", "jacfwd", "jacrev", "jacobian", "hessian"})


def note_mapped(frame: Frame, closure: Closure, node: ast.AST) -> None:
    """The function just entered is mapped: what it calls a number is one for each of many."""
    if any(name in _MAPPING for _, name in closure.transforms):
        note_batched(frame, node)


def note_batched(frame: Frame, node: ast.AST) -> None:
    entered = entered_by(frame.log, node)
    if entered is not None:
        frame.run.mapped.add(entered)


def under_map(run: Run) -> set[Evaluation]:
    """The evaluations that belong to a mapped function, once a run is over."""
    if run.under_map is None:
        run.under_map = with_all_called(run.mapped)
    return run.under_map


def is_small_stack(frame: Frame, stacked: Value | None, length: int | None) -> bool:
    """Whether a stack of what each step gives is proven small: under 1 MiB where the number of steps is in view,
    and a number a step where it is not. Mapped, a number is an array, of a length that is not known."""
    leaves = _sizes(stacked) if stacked is not None else None
    if leaves is None or frame.evaluation in under_map(frame.run):
        return False
    return sum(leaves) * length < MEBIBYTE if length is not None else max(leaves, default=0) <= 1


def is_small_call(frame: Frame, call: ast.AST) -> bool:
    """Whether what a scan or a map stacks is proven small by the shapes that the syntax shows."""
    if not isinstance(call, ast.Call) or frame.evaluation in under_map(frame.run):
        return False
    shapes = ArrayShapes(frame.run.program)
    known = shapes.of(call, shapes.around(frame.module, frame.function))
    if isinstance(known, Items):  # of a scan: the carry, and the stack
        known = known.members[1]
    count = elements(known)
    return count is not None and count < MEBIBYTE


def _sizes(value: Value) -> list[int] | None:
    """How many elements the arrays of a tree have at most; None where one is not known."""
    if value.kind == TREE:
        members = parts(value)
        if value.data is None:
            return None  # any number of them
        known = [_sizes(member) for member in members]
        return None if None in known else [size for sizes in known for size in sizes or ()]
    if value.kind == CONSTANT and value.data is None:
        return []
    if value.kind in NUMBERS:
        return [1]
    return [value.size] if value.size is not None else None
