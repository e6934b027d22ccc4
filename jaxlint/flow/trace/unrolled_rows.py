"""Loops over an array itself: `for key in keys`, one row of it after the other."""

from __future__ import annotations

import ast

from jaxlint.flow.device_memory.mapped_lengths import Lengths
from jaxlint.flow.device_memory.variants import Sources
from jaxlint.flow.domain.kinds import TRACED
from jaxlint.flow.frame import Frame
from jaxlint.flow.statements.rounds import SAME_LENGTH, Rounds
from jaxlint.flow.syntax.bindings import look
from jaxlint.index.walking import walk
from jaxlint.index.written_names import dotted_name, last_name

_PRODUCTS = frozenset({"dot", "matmul", "einsum", "dot_general", "tensordot", "vdot"})


def over_rows(frame: Frame, node: ast.For) -> Rounds | None:
    """How many rows of an array a loop goes through, each of which it adds to what the round before left. The rows
    of one that is multiplied as a matrix are the weights of layers."""
    source = node.iter
    while isinstance(source, ast.Call) and last_name(source.func) in SAME_LENGTH and source.args:
        source = source.args[0]
    if look(frame, source).kind != TRACED or not _carries(node) or _multiplies(node):
        return None
    number = Lengths(frame, Sources(frame)).of(source)
    return Rounds(number, "constant") if number is not None else None


def _carries(node: ast.For) -> bool:
    """`x = x + row`: something that a round reads and binds anew."""
    for part in (n for statement in node.body for n in walk(statement)):
        if isinstance(part, ast.AugAssign):
            return True
        if isinstance(part, ast.Assign):
            bound = {name for target in part.targets for n in walk(target) if (name := dotted_name(n))}
            if any(dotted_name(n) in bound for n in walk(part.value)):
                return True
    return False


def _multiplies(node: ast.For) -> bool:
    row = {n.id for n in walk(node.target) if isinstance(n, ast.Name)}
    for part in (n for statement in node.body for n in walk(statement)):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.MatMult):
            operands: list[ast.expr] = [part.left, part.right]
        elif isinstance(part, ast.Call) and last_name(part.func) in _PRODUCTS:
            operands = part.args
        else:
            continue
        if any(isinstance(n, ast.Name) and n.id in row for operand in operands for n in walk(operand)):
            return True
    return False
