"""Where what is jitted is defined, and what it is called."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

from . import frames


def definition(function: Any) -> list[Any]:
    """The place where what is called in the end is defined, ["?", 0, name] if that is not Python."""
    found = function
    for _ in range(20):
        if isinstance(found, functools.partial):
            found = found.func
        elif isinstance(found, types.MethodType):
            found = found.__func__
        elif getattr(found, "__wrapped__", None) is not None:
            found = found.__wrapped__
        else:
            break
    code = getattr(found, "__code__", None) or getattr(_call(found), "__code__", None)
    return frames.place_of(code) if code is not None else ["?", 0, name_of(function)]


def _call(found: Any) -> Any:
    return inspect.getattr_static(type(found), "__call__", None)


def name_of(function: Any) -> str:
    """What a user calls it."""
    inner = function.func if isinstance(function, functools.partial) else function
    name = getattr(inner, "__qualname__", None) or type(inner).__qualname__
    return f"partial({name})" if isinstance(function, functools.partial) else str(name)
