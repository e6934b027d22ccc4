"""Decorators of functions: those of libraries, Python's own and the project's."""

from __future__ import annotations

import ast

from jaxlint.flow.calls.dispatch import call_value
from jaxlint.flow.calls.patching import changed_by
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import API, BOUNDARY, CONSTANT, FUNCTION, PARTIAL
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.host_memory.cached_functions import CACHE_DECORATOR, note_cached
from jaxlint.jax_api.categories import category


def decorate(frame: Frame, decorator: Value, value: Value, node: ast.expr, function: Function) -> Value:
    """`@decorator` on what is below it."""
    call = Call(node, [value], {}, decorator=True)
    if decorator.kind == API:
        kind, last = category(decorator.data)
        if kind in ("cache", "cached_property", "other_cache"):
            note_cached(frame, node, function, last, bounded=last not in ("cache", "cached_property"))
            return value
        if kind == "builtin":
            return _builtin_decorator(last, value, function)
        if kind in ("jit", "transform", "control", "trace_guard"):
            return call_value(frame, decorator, call)
        if decorator.data in ("contextlib.contextmanager", "contextlib.asynccontextmanager"):
            return value
        if kind in ("transparent", "wraps"):
            function.is_static |= last == "staticmethod"
            return value
        if last in ("property", "cached_property", "setter", "getter"):
            function.is_property = True
            return value
        known = ("jaxtyping", "beartype", "typing", "equinox", "chex", "flax", "haiku", "numba.extending")
        return value if decorator.data.startswith(known) else UNKNOWN_VALUE
    if decorator.kind == CONSTANT and decorator.data == CACHE_DECORATOR:
        note_cached(frame, node, function, "lru_cache", bounded=bool(decorator.tags))
        return value
    if decorator.kind == PARTIAL:
        return call_value(frame, decorator, call)
    if decorator.kind == FUNCTION:
        return _project_decorator(frame, decorator, value, call)
    if decorator.kind == BOUNDARY:
        return decorator
    patched = changed_by(decorator)
    if patched:
        function.patches = (*function.patches, *patched)
        return value
    return UNKNOWN_VALUE


def _project_decorator(frame: Frame, decorator: Value, value: Value, call: Call) -> Value:
    """A decorator of the project: what it returns, where that is a boundary or the function itself."""
    result = call_value(frame, decorator, call)
    return result if result.kind in (BOUNDARY, FUNCTION) else UNKNOWN_VALUE


def _builtin_decorator(last: str, value: Value, function: Function) -> Value:
    if last == "staticmethod":
        function.is_static = True
        return value
    if last == "property":
        function.is_property = True
        return value
    if last == "classmethod":
        function.is_classmethod = True
        return value
    return UNKNOWN_VALUE
