"""Names: Python's own, the module's, the enclosing functions' and dotted ones whose value was stored."""

from __future__ import annotations

import ast

from jaxlint.flow.boundaries.watching import note_read
from jaxlint.flow.domain import text
from jaxlint.flow.domain.boundary_state import Read
from jaxlint.flow.domain.closures import Scope
from jaxlint.flow.domain.kinds import CONSTANT, DEVICE, FOREIGN, HOST, INSTANCE, LAZY, SCALAR, TREE, UNKNOWN
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.expressions.attributes import attribute
from jaxlint.flow.frame import Frame, evaluate, expression
from jaxlint.flow.program import api
from jaxlint.flow.retrace.mutation import global_key
from jaxlint.flow.trace import traced
from jaxlint.jax_api.transforms import JIT

_BUILTINS = {
    name: api(f"builtins.{name}")
    for name in [
        "range",
        "len",
        "int",
        "float",
        "bool",
        "str",
        "min",
        "max",
        "sum",
        "abs",
        "round",
        "enumerate",
        "zip",
        "list",
        "tuple",
        "dict",
        "set",
        "frozenset",
        "sorted",
        "reversed",
        "isinstance",
        "print",
        "getattr",
        "setattr",
        "hasattr",
        "any",
        "all",
        "type",
        "map",
        "filter",
        "callable",
        "next",
        "iter",
        "divmod",
        "pow",
        "complex",
        "property",
        "staticmethod",
        "classmethod",
        "super",
        "open",
        "repr",
        "format",
        "id",
        "hash",
        "object",
        "vars",
        "globals",
        "input",
        "slice",
    ]
}
# What a change of an outer name can matter for.
_ARRAYS_AND_MODELS = frozenset((HOST, DEVICE, TREE, INSTANCE, FOREIGN))
_MUTABLE = frozenset((CONSTANT, SCALAR, HOST, DEVICE, TREE, INSTANCE, UNKNOWN, FOREIGN))


@expression(ast.Name)
def name(frame: Frame, node: ast.Name) -> Value:
    identifier = node.id
    value = frame.names.get(identifier)
    if value is None:
        value = _outer_name(frame, node)
    elif frame.watching:
        note_read(frame, node, identifier)
    if value.kind == LAZY:
        imported = value
        value = frame.run.program.force(value)
        if frame.reads is not None and value.kind in _ARRAYS_AND_MODELS:
            key = ("imported", imported.data[0], identifier)
            frame.reads.setdefault(key, Read(frame.module, node, "global", value))
    return value


def _outer_name(frame: Frame, node: ast.Name) -> Value:
    scope = frame.outer
    while scope is not None:
        value = scope.names.get(node.id)
        if value is not None:
            if frame.reads is not None and value.kind in _MUTABLE:
                key = ("closure", id(scope.home), node.id)
                frame.reads.setdefault(key, Read(frame.module, node, "closure", _from_outside(scope, value)))
            return value
        scope = scope.up
    value = (frame.module.names or {}).get(node.id)
    if value is None:
        return text.own_name(frame) if node.id == "__name__" else _BUILTINS.get(node.id, UNKNOWN_VALUE)
    if frame.reads is not None and value.kind in _MUTABLE:
        frame.reads.setdefault(global_key(frame.module, node.id), Read(frame.module, node, "global", value))
    return value


def _from_outside(scope: Scope, value: Value) -> Value | None:
    """A closure's value, if it was there before the trace that reads it."""
    return value if scope.home is None or scope.home.level < JIT else None


@expression(ast.Attribute)
def attribute_of(frame: Frame, node: ast.Attribute) -> Value:
    base = node.value
    if base.__class__ is ast.Name:
        dotted = f"{base.id}.{node.attr}"
        value = frame.names.get(dotted)
        if value is not None:
            if frame.watching:
                note_read(frame, node, dotted)
            _evaluate_base(frame, base)
            return frame.run.program.force(value) if value.kind == LAZY else value
        if frame.watching:
            note_read(frame, node, dotted)
        if frame.watching and node.attr in traced.STATIC_ATTRIBUTES:
            return attribute(frame, frame.names.get(base.id, UNKNOWN_VALUE), node)
    return attribute(frame, evaluate(frame, base), node)


def _evaluate_base(frame: Frame, node: ast.expr) -> None:
    """Evaluate a base for what it reads: `cfg.scale` reads `cfg` too."""
    if frame.reads is not None:
        evaluate(frame, node)
