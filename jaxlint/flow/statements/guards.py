"""Tests and handlers that stand between a fact and certainty."""

from __future__ import annotations

import ast

from jaxlint.flow.facts import Guard
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import bindings_of
from jaxlint.flow.syntax.called_functions import receiving
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import last_name
from jaxlint.jax_api.arrays import STATIC_ATTRIBUTES

TRY = int(Guard.TRY)
NONE_BRANCH = int(Guard.NONE_BRANCH)
SHAPE_BRANCH = int(Guard.SHAPE_BRANCH)
TRACER_BRANCH = int(Guard.TRACER_BRANCH)

_TRACER_ERRORS = frozenset(
    [
        "TypeError",
        "Exception",
        "BaseException",
        "ConcretizationTypeError",
        "TracerBoolConversionError",
        "TracerArrayConversionError",
        "TracerIntegerConversionError",
        "NonConcreteBooleanIndexError",
        "JAXTypeError",
        "JAXIndexError",
    ]
)
_TYPE_TESTS = frozenset(["isinstance", "hasattr", "callable", "issubclass", "is_traced", "is_concrete"])


def guard_of(frame: Frame, test: ast.expr, outcome: bool) -> int:
    """What the branch taken when `test` is `outcome` assumes: that a parameter is None, or a fact about a type
    or a shape. Such a branch may never run under a trace."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return guard_of(frame, test.operand, not outcome)
    if isinstance(test, ast.BoolOp):
        guard = 0
        for item in test.values:
            guard |= guard_of(frame, item, outcome)
        return guard
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        right = test.comparators[0]
        if asks_for_type(test):
            return SHAPE_BRANCH
        if isinstance(right, ast.Constant) and right.value is None and _is_parameter(frame, test.left):
            is_none = isinstance(test.ops[0], (ast.Is, ast.Eq)) == outcome
            return NONE_BRANCH if is_none else 0
        return SHAPE_BRANCH if _asks_for_shape(test.left) or _asks_for_shape(right) else 0
    if isinstance(test, ast.Name):
        told = _is_flag(frame, test.id) or any(map(asks_for_type, bindings_of(frame).of(test.id)))
        return SHAPE_BRANCH if told else 0
    if isinstance(test, ast.Call):
        name = last_name(test.func)
        of_self = bool(test.args) and isinstance(test.args[0], ast.Name) and test.args[0].id == "self"
        if name == "hasattr" and of_self:
            return 0  # asks what the object has got so far
        if not outcome and asks_for_tracer(test):
            return TRACER_BRANCH
        if _is_type_test(name) or _returns_type_test(frame, test):
            return SHAPE_BRANCH
    return 0


def asks_for_type(node: ast.expr) -> bool:
    """`type(x) is np.ndarray`, `x.__class__`, `isinstance(x, np.ndarray)`, `is_concrete(x)`."""
    known: bool | None = node.__dict__.get("asks_for_type")
    if known is None:
        known = any(
            (isinstance(n, ast.Call) and (last_name(n.func) == "type" or _is_type_test(last_name(n.func))))
            or (isinstance(n, ast.Attribute) and n.attr == "__class__")
            for n in walk(node)
        )
        node.asks_for_type = known  # type: ignore[attr-defined]  # once for each tree
    return known


def _is_type_test(name: str) -> bool:
    """Whether a function of that name asks what kind of value something is."""
    return name in _TYPE_TESTS or "tracer" in name.lower() or "concrete" in name.lower()


def _returns_type_test(frame: Frame, call: ast.Call) -> bool:
    """`is_host(x)`, a function of the module that returns such a test."""
    helper = receiving(frame, call, call.args[0]) if call.args else None
    if helper is None or isinstance(helper[0].node, ast.Lambda):
        return False
    returns = (s.value for s in own_nodes(helper[0].node) if isinstance(s, ast.Return))
    return any(value is not None and asks_for_type(value) for value in returns)


def asks_for_tracer(test: ast.expr) -> bool:
    """`isinstance(x, jax.core.Tracer)`, `is_tracer(x)`."""
    return isinstance(test, ast.Call) and any("tracer" in word.lower() for word in _names(test))


def _asks_for_shape(node: ast.expr) -> bool:
    """`x.ndim`, `x.shape[0]`, `len(x)`."""
    if node.__class__ is ast.Constant:
        return False
    known: bool | None = node.__dict__.get("asks_for_shape")
    if known is None:
        known = any(
            (isinstance(n, ast.Attribute) and n.attr in STATIC_ATTRIBUTES)
            or (isinstance(n, ast.Name) and n.id == "len")
            for n in walk(node)
        )
        node.asks_for_shape = known  # type: ignore[attr-defined]  # once for each tree
    return known


def _is_flag(frame: Frame, name: str) -> bool:
    """A module's switch (`_DISABLE_CONTROL_FLOW`): what it turns on may not be meant for a trace."""
    return name not in frame.names and name.isupper() and name in (frame.module.names or {})


def _is_parameter(frame: Frame, node: ast.expr) -> bool:
    function = frame.function
    if function is None or not isinstance(node, ast.Name):
        return False
    return node.id in function.index or node.id in function.keyword_only


def takes_tracer_errors(handlers: list[ast.ExceptHandler]) -> bool:
    """Whether a try would swallow what JAX raises for a tracer."""
    return any(h.type is None or not _TRACER_ERRORS.isdisjoint(_names(h.type)) for h in handlers)


def _names(node: ast.expr) -> set[str]:
    return {
        n.id if isinstance(n, ast.Name) else n.attr
        for n in walk(node)
        if isinstance(n, (ast.Name, ast.Attribute))
    }


__all__ = ["NONE_BRANCH", "SHAPE_BRANCH", "STATIC_ATTRIBUTES", "TRY", "guard_of", "takes_tracer_errors"]
