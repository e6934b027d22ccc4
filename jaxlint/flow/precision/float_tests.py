"""Tests of whether something is an array of floats: where it is none, what is said of its floats is true."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import ARRAYS, UNKNOWN
from jaxlint.flow.domain.tags import NO_FLOATS
from jaxlint.flow.domain.values import Value
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.called_functions import receiving
from jaxlint.index.walking import own_nodes
from jaxlint.index.written_names import last_name
from jaxlint.jax_api.precision import FULL

_IS_FLOAT = frozenset(
    {
        "is_array",
        "is_array_like",
        "is_inexact_array",
        "is_inexact_array_like",
        "isfloating",
        "is_floating_point",
    }
)
_FLOATS = frozenset({"floating", "inexact", "number", "real floating", "f"}) | FULL
_NO_FLOATS = frozenset({"integer", "signedinteger", "unsignedinteger", "integral", "bool", "bool_"})
_ARRAY_CLASSES = frozenset({"Array", "ndarray", "ArrayLike", "DeviceArray"})
_HELPERS = 2


def without_floats(frame: Frame, test: ast.expr, outcome: bool) -> dict[str, Value]:
    """The name, if any, that stands for something without floats where `test` is `outcome`, and its value there."""
    name = _without_floats(frame, test, outcome, _HELPERS)
    value = frame.names.get(name) if name else None
    if value is None or not (value.kind in ARRAYS or value.kind == UNKNOWN):
        return {}
    return {name: value.but(tags=value.tags | NO_FLOATS)}


def _without_floats(frame: Frame, test: ast.expr, outcome: bool, helpers: int) -> str:
    """The name that holds no floats if `test` is `outcome`, "" if there is none."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _without_floats(frame, test.operand, not outcome, helpers)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) == outcome:  # some of them is
        names = {_without_floats(frame, each, outcome, helpers) for each in test.values}
        return names.pop() if len(names) == 1 else ""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(test, outcome)
    if not isinstance(test, ast.Call) or not test.args:
        return ""
    subject, name = test.args[0], last_name(test.func)
    if name in ("issubdtype", "isdtype") and len(test.args) == 2:
        others = _word(test.args[1]) in _NO_FLOATS
        return _owner(subject) if others == outcome and (others or _word(test.args[1]) in _FLOATS) else ""
    if outcome:
        return ""
    if name in _IS_FLOAT or (name == "isinstance" and _is_array_class(test.args[1:])):
        return last_name(subject) if isinstance(subject, ast.Name) else ""
    if name == "hasattr" and isinstance(subject, ast.Name) and _word(test.args[-1]) in ("dtype", "astype"):
        return subject.id
    return _asked_in_helper(frame, test, helpers)


def _compared(test: ast.Compare, outcome: bool) -> str:
    """`x.dtype == jnp.float32`, `x.dtype in (…)`, `x.dtype.kind == "f"`, `x is None`."""
    op, left, right = test.ops[0], test.left, test.comparators[0]
    if isinstance(right, ast.Constant) and right.value is None and isinstance(left, ast.Name):
        return left.id if isinstance(op, (ast.Is, ast.Eq)) == outcome else ""
    equal = isinstance(op, (ast.Eq, ast.Is, ast.In))
    words = [_word(each) for each in (right.elts if isinstance(right, (ast.Tuple, ast.List)) else [right])]
    alike = equal != outcome and bool(words) and all(word in _FLOATS for word in words)
    return _owner(left.value if last_name(left) == "kind" else left) if alike else ""  # type: ignore[attr-defined]  # an attribute


def _owner(node: ast.expr) -> str:
    """`x` in `x.dtype`, `jnp.result_type(x)` or `x` itself."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        node = node.args[0]
    elif isinstance(node, ast.Attribute) and node.attr == "dtype":
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _word(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else last_name(node)


def _is_array_class(given: list[ast.expr]) -> bool:
    classes = given[0].elts if given and isinstance(given[0], ast.Tuple) else given
    return any(last_name(each) in _ARRAY_CLASSES for each in classes)


def _asked_in_helper(frame: Frame, call: ast.Call, helpers: int) -> str:
    """`is_float(x)`, a function of the module that returns such a test."""
    helper = receiving(frame, call, call.args[0]) if helpers and isinstance(call.args[0], ast.Name) else None
    if helper is None or isinstance(helper[0].node, ast.Lambda):
        return ""
    returned = [
        n.value for n in own_nodes(helper[0].node) if isinstance(n, ast.Return) and n.value is not None
    ]
    asked = {_without_floats(frame, value, False, helpers - 1) for value in returned}
    return last_name(call.args[0]) if asked == {helper[1]} else ""
