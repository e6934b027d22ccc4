"""A softmax by hand: exponentials that are divided by their sum, or those of scores less their logsumexp."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.flow.device_memory.attention_helpers import Inside
from jaxlint.flow.syntax.bindings import Bindings, bindings_of, scope_of
from jaxlint.index.walking import walk
from jaxlint.index.written_names import last_name

_DEPTH = 4
_DIVIDING = frozenset({"divide", "true_divide"})


def axis_of(call: ast.Call) -> int | None:
    """The axis that a softmax is along, the last by default; None when it is not in view."""
    return _given_axis(call, -1)


def axis_by_hand(inside: Inside, node: ast.Call) -> int | None:
    """The axis along which the exponentials `exp(…)` are normalised, None where they are not, or nobody sees along
    which."""
    for argument in node.args[:1]:
        normaliser = _in_logarithms(argument, inside, _DEPTH)
        if normaliser is not None:
            return _given_axis(normaliser, -1 if last_name(normaliser.func) == "log_softmax" else None)
    bindings = bindings_of(inside.frame)
    for divisor in _divisors(scope_of(inside.frame)):
        total = _call_in(divisor, "sum", bindings)
        if total is not None:
            return _given_axis(total, None)
    return None


def _in_logarithms(node: ast.expr, inside: Inside, depth: int) -> ast.Call | None:
    """`log_softmax(scores)`, or what is taken from the scores: `scores - logsumexp(scores)`."""
    bindings = bindings_of(inside.frame)
    inner: list[tuple[ast.expr, Inside]] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return _call_in(node.right, "logsumexp", bindings)
    if isinstance(node, ast.Call):
        if last_name(node.func) == "log_softmax":
            return node
        inner = inside.returned(node)
    elif isinstance(node, ast.Name):
        inner = [(value, inside) for value in bindings.of(node.id)]
    found = (_in_logarithms(part, where, depth - 1) for part, where in inner if depth)
    return next((call for call in found if call is not None), None)


def _divisors(scope: ast.AST) -> Iterator[ast.expr]:
    """What something is divided by."""
    for node in walk(scope):
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Div):
            yield node.right if isinstance(node, ast.BinOp) else node.value
        elif isinstance(node, ast.Call) and node.args:
            word = last_name(node.func)
            if word == "reciprocal" or (word in _DIVIDING and len(node.args) > 1):
                yield node.args[-1]


def _call_in(node: ast.expr, name: str, bindings: Bindings, depth: int = 2) -> ast.Call | None:
    """A call by that name in an expression, or in what its names were bound to."""
    for part in walk(node):
        if isinstance(part, ast.Call) and last_name(part.func) == name:
            return part
        for value in bindings.of(part.id) if isinstance(part, ast.Name) and depth else ():
            found = _call_in(value, name, bindings, depth - 1)
            if found is not None:
                return found
    return None


def _given_axis(call: ast.Call, default: int | None) -> int | None:
    """The axis argument of a function of arrays, or of a method of one: `jnp.sum(e, -1)`, `e.sum(-1)`."""
    given = [k.value for k in call.keywords if k.arg == "axis"] or call.args[1:2]
    if not given and default is None:
        given = call.args[:1]
    if not given:
        return default
    try:
        axis = ast.literal_eval(given[0])
    except ValueError:
        return None
    return axis if isinstance(axis, int) else None
