"""What a parameter holds when its function is entered: an argument in the function's own terms, or what the
annotation and the default say of one that nobody knows."""

from __future__ import annotations

import ast

from jaxlint.flow.calls.argument_binding import default_value
from jaxlint.flow.domain.few import is_one_of_few
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import API, CLASS, INSTANCE, LAZY, PARAMETER, SCALAR, TRACED, UNKNOWN
from jaxlint.flow.domain.objects import Instance
from jaxlint.flow.domain.tags import BOUNDED
from jaxlint.flow.domain.values import PER_CALL, Value
from jaxlint.flow.program import Program


def as_passed(program: Program, function: Function, name: str, value: Value) -> Value:
    """An argument in the function's terms: what the caller made once is constant to it."""
    if value.kind == UNKNOWN and value.varies and is_one_of_few(program, function, name):
        return value.but(tags=value.tags | BOUNDED)
    if value.varies == PER_CALL and value.origin is not None:
        return value.but(varies=0)
    return value


def as_annotated(program: Program, function: Function, name: str, value: Value) -> Value:
    """A parameter of traced code that is annotated with a pytree class: its array fields are tracers."""
    annotation = function.annotations.get(name)
    if value.kind != PARAMETER or annotation is None or not annotation.isidentifier():
        return value
    found = (function.module.names or {}).get(annotation)
    if found is not None and found.kind == LAZY:
        found = program.force(found)
    if found is None or found.kind != CLASS or not found.data.is_pytree_value:
        return value
    thing = Instance(found.data, None, 0, function.node)
    thing.fields = {field: Value(TRACED) for field in found.data.array_fields()}
    return Value(INSTANCE, 0, value.tags, thing)


def when_unknown(function: Function, name: str, unknown: Value) -> Value:
    """An unknown argument of eager code: a number where the default or the annotation says so."""
    default = function.defaults.get(name)
    if isinstance(default, ast.Constant) and type(default.value) in (int, float):
        return Value(SCALAR, max(unknown.varies, PER_CALL), 0, None, None, unknown.origin)
    if function.annotations.get(name) in ("int", "float"):
        return Value(SCALAR, max(unknown.varies, PER_CALL), 0, None, None, unknown.origin)
    if isinstance(default, ast.Attribute):
        found = default_value(default, function.module)
        return found if found.kind == API else unknown
    return unknown
