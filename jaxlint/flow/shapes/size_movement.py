"""How a number that sets a size changes from one time to the next, and whether it takes a few values only."""

from __future__ import annotations

import ast
from typing import NamedTuple

from jaxlint.flow.domain.kinds import CONCRETE, SCALAR, SHAPE, UNKNOWN
from jaxlint.flow.domain.origin_words import DRAWN, LEN_OF_ANOTHER
from jaxlint.flow.domain.tags import BOUNDED, EVEN
from jaxlint.flow.domain.values import PER_ITERATION, Value
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import look, resolved
from jaxlint.index.walking import walk
from jaxlint.index.written_names import last_name


class Movement(NamedTuple):
    """How a number changes, and whether it takes a few values only."""

    varies: int
    few: bool


def movement(frame: Frame, node: ast.AST | None, value: Value) -> Movement | None:
    """How a number that sets a size changes from one time to the next; None for one that does not."""
    if value.tags & EVEN or (value.origin is not None and value.origin.word == LEN_OF_ANOTHER):
        return None
    few = bool(value.tags & BOUNDED) or _takes_few(frame, node, value)
    if value.kind == UNKNOWN and value.varies >= PER_ITERATION and _of_loop(frame, node):
        return Movement(value.varies, few)  # a bound or a size is a number, whatever it comes from
    drawn = value.origin is not None and value.origin.word in DRAWN
    if value.kind in (SCALAR, SHAPE):
        if value.varies >= PER_ITERATION or (value.varies and drawn):
            return Movement(value.varies, few)
    elif value.kind in CONCRETE and (value.varies >= PER_ITERATION or (value.varies and drawn)):
        return Movement(value.varies, few)
    elif value.kind in CONCRETE and isinstance(node, ast.Subscript):  # `lengths[i]`
        return movement(frame, None, look(frame, node.slice))
    return None


def _of_loop(frame: Frame, node: ast.AST | None) -> bool:
    """Whether an expression is made of the variable of a loop around."""
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} if node is not None else set()
    targets = [loop.node.target for loop in frame.loops if not isinstance(loop.node, ast.While)]
    for comprehension in frame.comprehensions:
        targets += [g.target for g in comprehension.generators]
    return any(n.id in names for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))


def _takes_few(frame: Frame, node: ast.AST | None, value: Value) -> bool:
    """`2**k`, a number that is doubled or halved each time, a length rounded up to a multiple of something."""
    if isinstance(node, ast.expr) and is_rounded(resolved(frame, node)):
        return True
    made = value.origin.node if value.origin is not None else None
    return isinstance(made, ast.AugAssign) and isinstance(
        made.op, (ast.Mult, ast.FloorDiv, ast.LShift, ast.RShift)
    )


def is_rounded(node: ast.expr) -> bool:
    """`1 << k`, `ceil(n / 8) * 8`, `n + -n % 8`."""
    while isinstance(node, ast.Call) and last_name(node.func) == "int" and len(node.args) == 1:
        node = node.args[0]
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, (ast.Pow, ast.LShift)):
        return isinstance(node.left, ast.Constant) and type(node.left.value) is int
    sides = [part for side in (node.left, node.right) for part in walk(side)]
    if isinstance(node.op, ast.Mult):
        return any(
            isinstance(part, ast.BinOp) and isinstance(part.op, ast.FloorDiv) for part in sides
        ) or any(isinstance(part, ast.Call) and last_name(part.func) == "ceil" for part in sides)
    return isinstance(node.op, (ast.Add, ast.Sub)) and any(
        isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in sides
    )
