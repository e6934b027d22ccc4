"""A stack of parameters that is transposed outside jit, to be scanned: for a moment both are there in full."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.flow.facts import EagerInit
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.syntax.bindings import bindings_of
from jaxlint.index.walking import walk
from jaxlint.index.written_names import dotted_name, last_name
from jaxlint.pattern import pattern

_MOVING = frozenset({"transpose", "swapaxes", "moveaxis", "permute_dims", "matrix_transpose"})
_MAPPING = frozenset({"map", "tree_map"})
_PARAMETERS = pattern(
    r"(^|_)(params?|parameters?|weights?|kernels?|layers?|blocks?|stack(ed)?|state_dict|model)(_|$)"
)
_DEPTH = 3


def note_scanned(frame: Frame, call: Call) -> None:
    """`lax.scan(block, x, (jnp.swapaxes(params["weight"], -1, -2), params["bias"]))` outside jit."""
    node = call.node
    if frame.quiet or frame.level or not isinstance(node, ast.Call):
        return
    over = node.args[2:3] or [k.value for k in node.keywords if k.arg == "xs"]
    for moved in {id(m): m for xs in over for m in _moved(frame, xs, _DEPTH)}.values():
        frame.record(EagerInit(frame.place(moved), frame.symbol, frame.proof(), how="scanned"))


def _moved(frame: Frame, node: ast.expr, depth: int) -> Iterator[ast.expr]:
    """The transpositions among what is scanned over."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Dict)):
        for member in node.values if isinstance(node, ast.Dict) else node.elts:
            yield from _moved(frame, member, depth)
    elif isinstance(node, ast.Name) and depth:
        for bound in bindings_of(frame).of(node.id)[-1:]:
            yield from _moved(frame, bound, depth - 1)
    elif isinstance(node, ast.Attribute):
        if node.attr == "mT" and _is_parameter(node.value):
            yield node
    elif isinstance(node, ast.Call):
        name, args = last_name(node.func), node.args
        if name == "dict":
            for keyword in node.keywords:
                yield from _moved(frame, keyword.value, depth)
        elif name in _MAPPING and len(args) > 1 and isinstance(args[0], ast.Lambda):
            if any(_keeps_stack(part) for part in walk(args[0].body)) and _is_parameter(args[1]):
                yield node
        elif _keeps_stack(node) and _is_parameter(_operand(node)):
            yield node


def _operand(call: ast.Call) -> ast.expr:
    """`w` of `jnp.swapaxes(w, 1, 2)` and of `w.swapaxes(1, 2)`."""
    return call.args[0] if _is_function(call) else call.func.value  # type: ignore[attr-defined]  # a method


def _is_function(call: ast.Call) -> bool:
    owner = dotted_name(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    return bool(call.args) and owner in ("jnp", "jax.numpy", "lax", "jax.lax", "")


def _keeps_stack(node: ast.AST) -> bool:
    """Whether it transposes the members of a stack, and leaves its first axis: what moves that one makes batches
    of steps in time, or the stack itself."""
    if isinstance(node, ast.Attribute):
        return node.attr == "mT"
    if not isinstance(node, ast.Call) or last_name(node.func) not in _MOVING:
        return False
    name = last_name(node.func)
    given = [*(node.args[1:] if _is_function(node) else node.args), *(k.value for k in node.keywords)]
    if name == "matrix_transpose":
        return True
    try:
        axes = [ast.literal_eval(each) for each in given]
    except ValueError:
        return False
    if name in ("transpose", "permute_dims"):
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        return len(order) > 2 and order[0] == 0
    flat = [axis for each in axes for axis in (each if isinstance(each, (tuple, list)) else [each])]
    return bool(flat) and all(axis in (-1, -2) or axis > 0 for axis in flat)


def _is_parameter(node: ast.expr) -> bool:
    """`params["weight"]`, `model.blocks.kernel`: by what it or what holds it is called."""
    while True:
        if isinstance(node, ast.Subscript):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else ""
            if isinstance(key, str) and _PARAMETERS.search(key.lower()):
                return True
            node = node.value
        elif isinstance(node, ast.Attribute):
            if _PARAMETERS.search(node.attr.lower()):
                return True
            node = node.value
        else:
            return isinstance(node, ast.Name) and bool(_PARAMETERS.search(node.id.lower()))
