"""What a parameter holds when its function is entered: an argument in the function's own terms, or what the
annotation and the default say of one that nobody knows."""

from __future__ import annotations

import ast

from jaxlint.flow.calls.argument_binding import default_value
from jaxlint.flow.domain.classes import ClassInfo
from jaxlint.flow.domain.few import is_one_of_few
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import API, CLASS, INSTANCE, PARAMETER, SCALAR, TRACED, UNKNOWN
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
    cls = _annotated_class(program, function, name) if value.kind == PARAMETER else None
    if cls is None or not cls.is_pytree_value:
        return value
    thing = Instance(cls, None, 0, function.node)
    thing.fields = {field: Value(TRACED) for field in cls.array_fields()}
    return Value(INSTANCE, 0, value.tags, thing)


def when_unknown(program: Program, function: Function, name: str, unknown: Value) -> Value:
    """An unknown argument of eager code: a number, or an object of settings, where default or annotation say so."""
    default = function.defaults.get(name)
    if isinstance(default, ast.Constant) and type(default.value) in (int, float):
        return Value(SCALAR, max(unknown.varies, PER_CALL), 0, None, None, unknown.origin)
    if function.annotations.get(name) in ("int", "float"):
        return Value(SCALAR, max(unknown.varies, PER_CALL), 0, None, None, unknown.origin)
    if isinstance(default, ast.Attribute):
        found = default_value(default, function.module)
        return found if found.kind == API else unknown
    settings = _annotated_class(program, function, name)
    return unknown if settings is None else _settings(settings, function, unknown)


def _annotated_class(program: Program, function: Function, name: str) -> ClassInfo | None:
    annotation = function.annotations.get(name, "").strip("'")
    found = program.named(function.module, annotation) if annotation else None
    return found.data if found is not None and found.kind == CLASS else None


_NUMBERS = {"int": 0, "float": 0, "bool": BOUNDED}
_DATA = ("Array", "ndarray", "Any", "PyTree", "Tensor")


def _settings(cls: ClassInfo, function: Function, unknown: Value) -> Value:
    """An object of a dataclass of settings that nobody in view makes. Its fields are what their annotations say,
    never the defaults: whoever makes it may have given others. What holds arrays is data, and stays unknown."""
    if not cls.dataclass or cls.family or cls.unresolved:
        return unknown
    says = {field: cls.annotation(field) for field in cls.all_fields()}
    text = " ".join(says.values())
    if any(word in text for word in _DATA):
        return unknown
    thing = Instance(cls, None, 0, function.node)
    for field, annotation in says.items():
        tags = _NUMBERS.get(annotation)
        thing.fields[field] = (
            Value(UNKNOWN, unknown.varies)
            if tags is None
            else Value(SCALAR, unknown.varies, tags, None, None, unknown.origin)
        )
    return Value(INSTANCE, unknown.varies, 0, thing, None, unknown.origin)
