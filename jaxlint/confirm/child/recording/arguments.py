"""The arguments of a call as a record keeps them, to be made again in another process: JSON, without any array.

A value is one of

    null, true, 3, 0.5, "mean"                                    itself
    {"array": "float32", "shape": [4, 3]}                         an array, also {..., "weak": true}
    {"key": "threefry2x32", "shape": []}                          typed PRNG keys
    {"list": [...]}, {"tuple": [...]}, {"dict": [[key, value], ...]}
    {"of": "pkg.mod:Class", "items": [...]}                       a named tuple
    {"of": "pkg.mod:Class", "state": {name: value}}               a pytree of a class: its attributes
    {"of": "pkg.mod:Class", "fields": {name: value}}              a data class that is no pytree: its constructor's
    {"method": "apply", "self": value}                            a bound method
    {"name": "pkg.mod:qualified.name"}                            a function, class or member of an enumeration
    {"closure": "optax.base:adam.<locals>.init", "line": 7, "cells": [...],
     "defaults": ...}                                             a function made inside another one
    {"opaque": "<Trainer>"}                                       what cannot be made from outside

No pickle: that holds no closures, of which optimisers are made, and runs whatever it says.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import sys
from types import FunctionType, MethodType
from typing import Any

from .signature import is_nnx

MOST = 4000  # values of one call
_LOCALS = ".<locals>."

Node = Any


class _TooMany(Exception):
    """The call has more parts than a record should hold."""


def encoded(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Node] | None:
    """The arguments of a call; None where they are too many."""
    encoder = _Encoder()
    try:
        return {
            "args": [encoder.value(each) for each in args],
            "kwargs": {name: encoder.value(each) for name, each in kwargs.items()},
        }
    except (_TooMany, RecursionError):
        return None


class _Encoder:
    def __init__(self) -> None:
        self._left = MOST

    def value(self, value: Any, arrays: bool = True) -> Node:
        """The node of a value. Without `arrays` there must be none in it: nobody would make them."""
        self._left -= 1
        if self._left < 0:
            raise _TooMany
        kind = type(value)
        if value is None or kind in (bool, int, str) or (kind is float and math.isfinite(value)):
            return value
        if _is_array(value):
            return _array(value) if arrays else _opaque(value)
        if kind in (list, tuple):
            return {kind.__name__: [self.value(item, arrays) for item in value]}
        if kind is dict:
            return {"dict": [[self.value(k, False), self.value(v, arrays)] for k, v in value.items()]}
        if isinstance(value, MethodType):
            inner = self.value(value.__self__, arrays)
            return {"method": value.__func__.__name__, "self": inner}
        name = _name(value, kind)
        if name is not None:
            return {"name": name}
        if isinstance(value, FunctionType):
            return self._closure(value)
        return self._object(value, kind, arrays)

    def _closure(self, function: FunctionType) -> Node:
        """A function that another makes, which is in its module still. Arrays in it would have to be made, too."""
        maker = function.__qualname__.partition(_LOCALS)[0]
        module = sys.modules.get(function.__module__)
        if not hasattr(module, maker.partition(".")[0]) or function.__kwdefaults__:
            return _opaque(function)
        try:
            cells = [self.value(cell.cell_contents, False) for cell in function.__closure__ or ()]
        except ValueError:  # a cell that is empty yet
            return _opaque(function)
        name = f"{function.__module__}:{function.__qualname__}"
        defaults = self.value(function.__defaults__, False)
        line = function.__code__.co_firstlineno
        return {"closure": name, "line": line, "cells": cells, "defaults": defaults}

    def _object(self, value: Any, kind: type, arrays: bool) -> Node:
        name = _importable(kind)
        if name is None or is_nnx(value):  # a graph is not made of its attributes
            return _opaque(value)
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return {"of": name, "items": [self.value(item, arrays) for item in value]}
        if isinstance(value, (tuple, list)):
            return _opaque(value)
        if _is_tree(value):
            state = {key: self.value(item, arrays) for key, item in _attributes(value).items()}
            return {"of": name, "state": state}
        if dataclasses.is_dataclass(value):
            fields = {
                field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init
            }
            return {"of": name, "fields": {key: self.value(item, False) for key, item in fields.items()}}
        return _opaque(value)


def _is_array(value: Any) -> bool:
    if isinstance(value, type) or is_nnx(value):
        return False
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _array(value: Any) -> Node:
    import jax
    import jax.numpy as jnp

    described = getattr(value, "aval", None) or value
    shape = [int(length) for length in described.shape]
    if jnp.issubdtype(described.dtype, jax.dtypes.prng_key):
        return {"key": str(jax.random.key_impl(value)), "shape": shape}
    weak = {"weak": True} if getattr(described, "weak_type", False) else {}
    return {"array": str(described.dtype), "shape": shape, **weak}


def _is_tree(value: Any) -> bool:
    """Whether jax looks into a value."""
    from jax.tree_util import all_leaves

    return not all_leaves([value])


def _attributes(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if slot not in ("__weakref__", "__dict__"):
                with contextlib.suppress(AttributeError):
                    found[slot] = getattr(value, slot)
    found.update(getattr(value, "__dict__", {}))
    return found


def _name(value: Any, kind: type) -> str | None:
    """What a function, a class or a member of an enumeration is imported by."""
    import enum

    if isinstance(value, enum.Enum):
        owner = _importable(kind)
        return f"{owner}.{value.name}" if owner is not None else None
    return _importable(value) if callable(value) else None


def _importable(thing: Any) -> str | None:
    """ "pkg.mod:qualified.name" where that is this very object, else None."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or "<" in name:
        return None
    try:
        found = functools.reduce(getattr, name.split("."), sys.modules[module])
    except (AttributeError, KeyError):
        return None
    same = found is thing or getattr(found, "__wrapped__", None) is thing
    return f"{module}:{name}" if same else None


def _opaque(value: Any) -> Node:
    kind = type(value)
    shown = getattr(value, "__qualname__", None) if callable(value) else None
    return {"opaque": f"<{kind.__name__} {shown}>" if isinstance(shown, str) else f"<{kind.__qualname__}>"}
