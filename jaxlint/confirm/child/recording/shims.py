"""A user's function with a note taken while it is traced, made so that jit's caches take it for the function.

jit keys its caches on the function object, by weak reference. So the same function gets the same shim, and the
shim lives exactly as long as jit would have kept what belongs to the function: a plain function or a `partial`
holds its shim (a cycle, which the collector frees), a bound method has one as long as any method object that was
jitted, or anything made from it, is alive. What else can be called (an Equinox module or a jax.tree_util.Partial
is a pytree, whose arrays a shim would turn into captured constants; C functions) gets none, and is seen by
`events` alone. So is a generator function, which jax refuses.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

from . import frames
from .boundaries import Boundaries, Boundary

_HELD = "__jaxlint_shims__"  # in a function's __dict__: its shims, by the api that asked for them
_NAMELESS = "<unnamed function>"  # what jax calls a callable without a name


class Shims:
    """Makes shims and finds them again."""

    def __init__(self, boundaries: Boundaries) -> None:
        self._boundaries = boundaries
        self._methods: weakref.WeakValueDictionary[Any, Any] = weakref.WeakValueDictionary()
        self._held: dict[int, tuple[Any, Any]] = {}
        self._serial = itertools.count(1)

    def of(self, api: str, function: Any, wrapped: list[Any]) -> Any:
        """The shim of a function that a boundary is made for at the place `wrapped`, or None."""
        if inspect.isgeneratorfunction(function):
            return None
        if isinstance(function, types.FunctionType) or type(function) is functools.partial:
            return self._of_function(api, function, wrapped)
        if isinstance(function, types.MethodType):
            return self._of_method(api, function, wrapped)
        return None

    def _of_function(self, api: str, function: Any, wrapped: list[Any]) -> Any:
        held = function.__dict__.get(_HELD)
        if held is None or held.owner() is not function:  # functools.wraps copies a __dict__
            held = _Held(function)
            function.__dict__[_HELD] = held
        shim = held.shims.get(api)
        if shim is None:
            shim = held.shims[api] = self._make(api, function, wrapped)
        shim.__jaxlint_boundary__.wraps += 1
        return shim

    def _of_method(self, api: str, method: types.MethodType, wrapped: list[Any]) -> Any:
        key = (api, id(method.__self__), method.__func__)
        shim = self._methods.get(key)
        if shim is None:
            same = types.MethodType(method.__func__, method.__self__)
            shim = self._methods[key] = self._make(api, same, wrapped)
        shim.__jaxlint_boundary__.wraps += 1
        number = id(method)
        dies = weakref.ref(method, lambda _: self._held.pop(number, None))
        self._held[number] = (dies, shim)
        return shim

    def _make(self, api: str, function: Any, wrapped: list[Any]) -> Any:
        boundary = self._boundaries.of(api, function, wrapped)
        if isinstance(function, functools.partial):
            shim: Any = _partial(function, self._noting(function.func, boundary, function))
        else:
            shim = self._noting(function, boundary)
        shim.__jaxlint_boundary__ = boundary
        return shim

    def _noting(self, function: Any, boundary: Boundary, partial: Any = None) -> Any:
        """The function, noting each trace of it for the boundary. `partial`: what calls it with arguments bound."""
        parameters = _parameters(function if partial is None else partial)
        serial = next(self._serial)
        note = self._boundaries.note_trace

        @functools.wraps(function)
        def shim(*args: Any, **kwargs: Any) -> Any:
            caller = sys._getframe(1)
            if frames.is_user_frame(caller) or _is_eager():  # somebody calls the function itself
                return function(*args, **kwargs)
            given, named = (args, kwargs) if partial is None else _given(partial, args, kwargs)
            with note(boundary, serial, given, named, parameters):
                return function(*args, **kwargs)

        if not hasattr(function, "__name__"):
            shim.__name__ = _NAMELESS
        shim.__dict__.pop(_HELD, None)
        return shim


def _partial(function: Any, shim: Any) -> Any:
    """The partial with a shim for what it calls: jax and other libraries name and look into a partial as one."""
    made = functools.partial(shim, *function.args, **function.keywords)
    made.__dict__.update(function.__dict__, __wrapped__=function)
    made.__dict__.pop(_HELD, None)
    return made


def _given(
    partial: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments that a partial was called with, out of all that it hands on."""
    bound, keywords = partial.args, partial.keywords
    positional = (arg for i, arg in enumerate(args) if i >= len(bound) or arg is not bound[i])
    return tuple(positional), {
        name: value for name, value in kwargs.items() if name not in keywords or value is not keywords[name]
    }


class _Held:
    """The shims of one function."""

    def __init__(self, owner: Any) -> None:
        self.owner = weakref.ref(owner)
        self.shims: dict[str, Any] = {}


def _parameters(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _is_eager() -> bool:
    try:
        from jax._src.core import trace_state_clean
    except ImportError:
        return False
    return bool(trace_state_clean())
