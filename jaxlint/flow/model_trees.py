"""Which trees hold parameters or gradients: by what they are called, what made them, what callers pass."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jaxlint.flow.bindings import bindings_of, look
from jaxlint.flow.frame import Frame
from jaxlint.flow.operand import last_name
from jaxlint.flow.values import BOUNDARY, FUNCTION
from jaxlint.flow.walking import walk

# What a tree of parameters or gradients is called, and what is called so that is none.
_OF_MODEL = re.compile(
    r"(^|_)(d?grads?|gradients?|params?|parameters|weights|updates|model|net|network|variables|theta|backbone|"
    r"encoder|decoder|state_dict|lora|adapters?|ema|momentum|master)(_|\d|$)"
)
DATA = re.compile(
    r"(^|_)(x|xs|y|ys|batch(es)?|inputs?|images?|data|samples?|obs|observations?|tokens|logits|outputs?|targets?|"
    r"labels?|features|h|acts?|activations|carry|cache|metrics|losses|preds?|predictions)(_|\d|$)"
)
# Calls that give such a tree, by the last part of their names.
_GIVING = re.compile(
    r"(^|_)(grads?|gradients?|partition|filter|init|params?|parameters|state_dict|weights)(_|$)"
)


def name_of(node: ast.expr) -> str:
    """`params` of `state.params` and of `variables["params"]`."""
    if isinstance(node, ast.Subscript):
        index = node.slice
        return str(index.value) if isinstance(index, ast.Constant) else name_of(node.value)
    return last_name(node)


def is_of_model(frame: Frame, node: ast.expr) -> bool:
    """Whether a tree holds parameters or gradients: by its name, by what made it, or by what callers pass."""
    name = name_of(node).lower()
    if _OF_MODEL.search(name):
        return True
    if DATA.search(name):
        return False
    if isinstance(node, ast.Call):
        return _gives_model(frame, node)
    if not isinstance(node, ast.Name):
        return False
    made = bindings_of(frame).of(node.id)
    if any(isinstance(value, ast.Call) and _gives_model(frame, value) for value in made[-1:]):
        return True
    return not made and any(_OF_MODEL.search(name_of(a).lower()) for a in _passed(frame, node.id))


def _gives_model(frame: Frame, call: ast.Call) -> bool:
    if isinstance(call.func, ast.Call):  # `jax.grad(loss)(params)`
        return bool(_GIVING.search(last_name(call.func.func)))
    if _GIVING.search(last_name(call.func)):
        return True
    value = look(frame, call.func)
    closure = value.data if value.kind == FUNCTION else None
    if value.kind == BOUNDARY:
        closure = value.data.closure
    return closure is not None and any("grad" in name for _, name in closure.transforms)


def _passed(frame: Frame, parameter: str) -> Iterator[ast.expr]:
    """What the calls in view pass for a parameter of this function."""
    function, top = frame.function, frame.run.top
    if function is None or parameter not in function.index:
        return
    at = function.index[parameter] - (1 if function.is_method else 0)
    trees = [
        frame.module.tree,
        *([top.module.tree] if top is not None and top.module is not frame.module else []),
    ]
    for tree in trees:
        for node in walk(tree):
            if isinstance(node, ast.Call) and last_name(node.func) == function.name:
                yield from (k.value for k in node.keywords if k.arg == parameter)
                yield from node.args[at : at + 1]
