"""Expressions that copy an array from the device to the host."""

from __future__ import annotations

import ast

from jaxlint.flow.bindings import bindings_of, look
from jaxlint.flow.frame import Frame
from jaxlint.flow.operand import last_name
from jaxlint.flow.outputs import output_of
from jaxlint.flow.values import (
    DEVICE,
    SCALAR,
    TREE,
    UNKNOWN,
    Value,
    parts,
)
from jaxlint.flow.walking import walk

_COPIES = frozenset({"asarray", "array", "device_get", "ascontiguousarray"})
_PACKING = frozenset({"packbits", "compress", "imencode"})
_EXPRESSIONS = (ast.Call, ast.Subscript, ast.BinOp)


def copies_of_device_arrays(frame: Frame, node: ast.expr, depth: int) -> bool:
    """Whether the expression copies an array from the device, which is not proven to be a number.

    What is kept packed is what the rule advises: it is no copy.
    """
    if isinstance(node, ast.Call) and last_name(node.func) in _PACKING:
        return False
    for part in walk(node):
        if isinstance(part, ast.Call) and part.args and last_name(part.func) in _COPIES:
            if _on_device(frame, part.args[0], 2):
                return True
        elif (
            isinstance(part, ast.Call) and last_name(part.func) in ("map", "tree_map") and len(part.args) > 1
        ):
            if last_name(part.args[0]) in _COPIES and _on_device(frame, part.args[1], 2):
                return True
        elif isinstance(part, ast.Name) and depth:
            made = (v for v in bindings_of(frame).of(part.id)[-1:] if isinstance(v, _EXPRESSIONS))
            if any(copies_of_device_arrays(frame, value, 0) for value in made):
                return True
    return False


def _on_device(frame: Frame, node: ast.expr, depth: int) -> bool:
    """An array on the device, or what a boundary returned or was made of that, not proven a number."""
    value = look(frame, node)
    if value.kind not in (UNKNOWN, SCALAR):
        return _holds_device(value)
    output = output_of(frame, node, value)
    if output is not None:
        return output.what != "number"
    made: list[ast.expr] = []
    if isinstance(node, ast.Name) and depth:
        made = [v for v in bindings_of(frame).of(node.id)[-1:] if isinstance(v, (ast.BinOp, ast.Compare))]
    elif isinstance(node, ast.BinOp):
        made = [node.left, node.right]
    elif isinstance(node, ast.Compare):
        made = [node.left]
    return any(_on_device(frame, part, depth - 1) for part in made) if depth else False


def _holds_device(value: Value) -> bool:
    if value.kind == TREE:
        return any(_holds_device(member) for member in parts(value))
    return value.kind == DEVICE and value.size != 1
