"""Which trees hold parameters or gradients: by what they are called, what made them, what callers pass."""

from __future__ import annotations

import ast
import re

from jaxlint.flow.domain.kinds import API, BOUNDARY, FUNCTION
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import Bindings, bindings_of, look
from jaxlint.flow.syntax.calls_in_view import CallInView, calls_in_view
from jaxlint.index.written_names import last_name

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
_STATES = frozenset({"flax.nnx.split", "flax.nnx.state"})


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
    return not made and _is_passed(frame, node.id)


def _names_giver(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    callee = node.func.func if isinstance(node.func, ast.Call) else node.func  # `jax.grad(loss)(params)`
    return bool(_GIVING.search(last_name(callee)))


def _gives_model(frame: Frame, call: ast.Call) -> bool:
    if isinstance(call.func, ast.Call) or _names_giver(call):
        return _names_giver(call)
    value = look(frame, call.func)
    if value.kind == API and value.data in _STATES:
        return True
    closure = value.data if value.kind == FUNCTION else None
    if value.kind == BOUNDARY:
        closure = value.data.closure
    return closure is not None and any("grad" in name for _, name in closure.transforms)


def _is_passed(frame: Frame, parameter: str) -> bool:
    """Whether a call in view passes such a tree for a parameter of this function."""
    function = frame.function
    return function is not None and any(
        passes_model(call, call.passes(function, parameter)) for call in calls_in_view(frame)
    )


def passes_model(call: CallInView, given: ast.expr | None) -> bool:
    """Whether what a call passes is such a tree, as far as the syntax of the caller tells."""
    if given is None:
        return False
    made = Bindings(call.scope).of(given.id) if isinstance(given, ast.Name) else [given]
    before = [value for value in made if value.lineno < call.node.lineno or value is given]
    return bool(_OF_MODEL.search(name_of(given).lower())) or any(map(_names_giver, before[-1:]))
