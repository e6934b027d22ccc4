"""Where Python, numpy or a shape demands a concrete value of a tracer: the facts of JAX205 to JAX208."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.classes import ClassInfo
from jaxlint.flow.domain.kinds import CONSTANT, INSTANCE, PARAMETER, TRACED, TRACERS, TREE
from jaxlint.flow.domain.operand import operand
from jaxlint.flow.domain.tags import BOOLEAN_MASK
from jaxlint.flow.domain.values import Value, parts
from jaxlint.flow.facts import DataDependentShape, NumpyOnTraced, TracedBranch, TracedShape
from jaxlint.flow.frame import Frame, evaluate
from jaxlint.flow.syntax.stored_fields import CONSTRUCTORS
from jaxlint.jax_api.arrays import STATIC_ATTRIBUTES
from jaxlint.jax_api.transforms import JIT, VMAP

__all__ = ["STATIC_ATTRIBUTES", "contains_tracer", "demand", "truth"]


# What no tree and no None could be given either: a parameter that is passed here is a tracer.
_NEEDS_NUMBER = frozenset({"range()", "int()", "float()"})


def demand(frame: Frame, node: ast.AST, value: Value, how: str) -> None:
    """Python asks for the concrete value of `node`."""
    certain = value.kind == TRACED or (
        value.kind == PARAMETER and frame.level >= JIT and how in _NEEDS_NUMBER
    )
    if certain and frame.level >= VMAP and not frame.quiet:
        frame.record(
            TracedBranch(
                frame.place(node), frame.symbol, frame.proof(), how=how, operand=operand(frame, node, value)
            )
        )


def truth(frame: Frame, node: ast.expr, value: Value, how: str) -> bool | None:
    """A test: reports a tracer, and answers when the outcome is known. Of `flag and x > 0` it is the last operand
    that may be one, whatever the flag is."""
    demand(frame, node, value, how)
    if node.__class__ is ast.BoolOp and frame.last_operand is not None and value.kind not in TRACERS:
        last, guard = frame.last_operand
        before, frame.guard = frame.guard, guard
        demand(frame, node, last, how)
        frame.guard = before
    if value.kind == CONSTANT and (value.data is None or isinstance(value.data, bool)):
        return None if _may_differ_later(frame, node) else bool(value.data)
    return None


def _may_differ_later(frame: Frame, test: ast.expr) -> bool:
    """Whether eager code asks for a field as the constructor left it, which other methods store too: `if self.last
    is None: self.last = x; return` goes another way in the next call."""
    if frame.level or frame.cls is None or frame.function is None or frame.function.name in CONSTRUCTORS:
        return False
    for node in ast.walk(test):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = node.value.id
            owner = frame.names.get(name)
            if owner is not None and owner.kind == INSTANCE and f"{name}.{node.attr}" not in frame.names:
                cls: ClassInfo = owner.data.cls
                if cls.stores_later(node.attr):
                    return True
    return False


def iterate(frame: Frame, node: ast.expr, value: Value) -> None:
    """Iteration over a tracer is allowed (it unrolls); nothing to report, kept as the one place to say so."""


def numpy_call(frame: Frame, node: ast.AST, api: str, value: Value, silent: bool = False) -> None:
    """A numpy function receives a tracer."""
    _numpy(frame, node, api, "call", node, value, silent)


def numpy_index(frame: Frame, node: ast.Subscript, value: Value, how: str) -> None:
    """A numpy array is indexed by, or written from, a tracer."""
    _numpy(frame, node, "", how, node.slice, value, False)


def numpy_method(frame: Frame, node: ast.AST, name: str, at: ast.AST, value: Value) -> None:
    """A method of a numpy array receives a tracer."""
    _numpy(frame, node, f".{name}", "method", at, value, False)


def _numpy(frame: Frame, node: ast.AST, api: str, how: str, at: ast.AST, value: Value, silent: bool) -> None:
    if frame.level >= VMAP and not frame.quiet:
        frame.record(
            NumpyOnTraced(
                frame.place(node),
                frame.symbol,
                frame.proof(),
                api=api,
                how=how,
                operand=operand(frame, at, value),
                silent=silent,
            )
        )


def data_shape(frame: Frame, node: ast.AST, api: str, how: str, value: Value | None) -> None:
    """A shape would depend on traced data."""
    if frame.level >= VMAP and not frame.quiet:
        frame.record(
            DataDependentShape(
                frame.place(node),
                frame.symbol,
                frame.proof(),
                api=api,
                how=how,
                operand=operand(frame, node, value) if value is not None else None,
            )
        )


def size(frame: Frame, node: ast.AST | None, value: Value | None, api: str, how: str) -> bool:
    """A static size is needed of `node` (or of a member of it). True when that is reported."""
    if value is None or node is None or frame.level < VMAP or frame.quiet:
        return False
    for at, member in _members(node, value):
        if member.kind == TRACED or (member.kind == PARAMETER and frame.level >= JIT):
            frame.record(
                TracedShape(
                    frame.place(at),
                    frame.symbol,
                    frame.proof(),
                    api=api,
                    how=how,
                    operand=operand(frame, at, member),
                )
            )
            return True
    return False


def _members(node: ast.AST, value: Value) -> list[tuple[ast.AST, Value]]:
    if value.kind == TREE and value.data.__class__ is list:
        if isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) == len(value.data):
            return list(zip(node.elts, value.data, strict=True))
        return [(node, v) for v in value.data]
    return [(node, value)]


def slice_bounds(frame: Frame, base: Value, index: ast.expr) -> None:
    """`x[a:b]` in traced code needs static bounds; the first traced one is reported."""
    if frame.level < VMAP or frame.quiet:
        return
    items = index.elts if isinstance(index, ast.Tuple) else [index]
    for item in items:
        if not isinstance(item, ast.Slice):
            continue
        for bound in (item.lower, item.upper, item.step):
            if bound is not None and size(frame, bound, evaluate(frame, bound), "", "slice bound"):
                return


def is_mask(frame: Frame, index: Value) -> bool:
    """A boolean mask that is a tracer here."""
    return bool(index.tags & BOOLEAN_MASK) and index.kind in TRACERS and frame.level >= VMAP


def contains_tracer(values: list[Value]) -> bool:
    """Whether a tracer is among the values or in their displays."""
    for value in values:
        if value.kind in TRACERS:
            return True
        if value.kind == TREE:
            if value.data is not None:
                members = value.data if value.data.__class__ is list else list(value.data.values())
                if contains_tracer(members):
                    return True
            elif value.element is not None and value.element.kind in TRACERS:
                return True
    return False


def first_tracer(value: Value) -> Value:
    """The tracer in a value that contains one."""
    if value.kind in TRACERS or value.kind != TREE:
        return value
    for member in parts(value):
        if contains_tracer([member]):
            return first_tracer(member)
    return value


def all_results_traced(frame: Frame, values: list[Value]) -> bool:
    """Whether a jnp call on these gives a tracer: at jit every one does, below it those on tracers."""
    return frame.level >= JIT or (frame.level > 0 and contains_tracer(values))
