"""Scans over blocks of a network that are differentiated: what they keep for the backward pass."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.evaluations import Evaluation, entered_by, with_all_called
from jaxlint.flow.frame import Frame
from jaxlint.flow.run import Run
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name
from jaxlint.jax_api.transforms import GRAD
from jaxlint.pattern import pattern

_PRODUCTS = frozenset({"dot", "matmul", "einsum", "dot_general", "tensordot", "conv_general_dilated", "conv"})
_REBUILDERS = frozenset({"combine", "merge", "apply", "unflatten"})
_BLOCKS = pattern(r"block|layer|attention|attn|mlp|ffn|feed_forward|transformer|encoder|decoder")
_SAVING = frozenset({"checkpoint", "remat", "filter_checkpoint", "checkpoint_name", "save_only_these_names"})
_DEPTH = 2


def note_gradient(frame: Frame, closure: Closure, node: ast.AST) -> None:
    """The function just entered is differentiated in reverse."""
    if any(level == GRAD for level, _ in closure.transforms):
        entered = entered_by(frame.log, node)
        if entered is not None:
            frame.run.differentiated.add(entered)


def under_gradient(run: Run) -> set[Evaluation]:
    """The evaluations that belong to a differentiated function, once a run is over."""
    if run.under_gradient is None:
        run.under_gradient = with_all_called(run.differentiated)
    return run.under_gradient


def is_of_blocks(body: Closure | None) -> bool:
    """Whether the body of a scan applies one block of a network: its second argument are the block's parameters."""
    if body is None:
        return False
    function = body.function
    free = function.params[body.offset + len(body.bound) :]
    return len(free) > 1 and _applies(function, free[0], free[1], _DEPTH)


def saves_memory(body: Closure | None, frame: Frame) -> bool:
    """Whether a checkpoint is in view: around the body, in it, or where it is scanned."""
    if body is not None and any(name == "checkpoint" for _, name in body.transforms):
        return True
    around = frame.function.node if frame.function is not None else None
    scopes = [node for node in (around, body.function.node if body is not None else None) if node is not None]
    return any(map(speaks_of_saving, scopes))


def speaks_of_saving(scope: ast.AST) -> bool:
    """Whether code checkpoints something, or has an option for it."""
    return any(
        (isinstance(node, ast.Name) and (node.id in _SAVING or "remat" in node.id))
        or (isinstance(node, ast.Attribute) and (node.attr in _SAVING or "remat" in node.attr))
        or (isinstance(node, ast.arg) and ("remat" in node.arg or "checkpoint" in node.arg))
        for node in walk(scope)
    )


def _applies(function: Function, carry: str, params: str, depth: int) -> bool:
    """Products with the parameters, or a call that is given them, around something that is not linear."""
    names = _derived(function.node, params)
    products = nonlinear = 0
    for node in own_nodes(function.node):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            products += _root(node.right) in names
        elif isinstance(node, ast.Call):
            name = (dotted_name(node.func) or "").rpartition(".")[2]
            given = [a for a in (*node.args, *(k.value for k in node.keywords)) if _mentions(a, names)]
            if (
                isinstance(node.func, ast.Name)
                and name in names
                and any(_mentions(a, {carry}) for a in node.args)
            ):
                return True  # the block itself: `layer(x)`
            if name in _PRODUCTS:
                products += bool(given) and _root(node.args[0]) not in names
            elif given and (name in _REBUILDERS or _BLOCKS.search(name.lower())):
                return True
            else:
                nonlinear += bool(name)
        elif isinstance(node, ast.BinOp):
            nonlinear += isinstance(node.op, (ast.Mult, ast.Div, ast.Pow))
    return products > 1 or (products > 0 and nonlinear > 0)


def _derived(scope: ast.AST, name: str) -> set[str]:
    """The name, and those its parts are unpacked into."""
    found = {name}
    for node in own_nodes(scope):
        if isinstance(node, ast.Assign) and _root(node.value) in found:
            for target in node.targets:
                found |= {n.id for n in walk(target) if isinstance(n, ast.Name)}
    return found


def _mentions(node: ast.expr, names: set[str]) -> bool:
    return any(isinstance(n, ast.Name) and n.id in names for n in walk(node))


def _root(node: ast.expr) -> str:
    """`w` in `w["up"]`, `w.up.T` and `w`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


__all__ = ["is_of_blocks", "note_gradient", "saves_memory", "speaks_of_saving", "under_gradient"]
