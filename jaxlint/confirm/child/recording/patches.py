"""Layer B: the functions that make jit boundaries, replaced by ones that hand on a shim of what they are given."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import frames
from .definitions import definition
from .shims import Shims

# Where each api is looked up by user code: module, attribute, what the record calls it.
_MAKERS = {
    "jax": (("jit", "jax.jit"), ("pmap", "jax.pmap")),
    "jax.experimental.pjit": (("pjit", "jax.pjit"),),
    "equinox": (("filter_jit", "eqx.filter_jit"), ("filter_pmap", "eqx.filter_pmap")),
    "flax.nnx": (("jit", "nnx.jit"), ("pmap", "nnx.pmap")),
    "flax.linen": (("jit", "linen.jit"),),
}
# These jit on behalf of the user's call, which has been seen already.
_INSIDE = ("jax", "jaxlib", "equinox", "flax")


class Patches:
    """Replaces the makers of modules that have been imported."""

    def __init__(
        self,
        shims: Shims,
        cleared: Callable[[], None],
        made: Callable[[Any, Any], None] = lambda shim, result: None,
    ) -> None:
        """`made` is told of every boundary: the shim, and what was made of it."""
        self._made = made
        self._shims = shims
        self._cleared = cleared

    def patch(self, module: ModuleType) -> None:
        """Replace the makers of one of MODULES."""
        for attribute, api in _MAKERS.get(module.__name__, ()):
            # Not getattr: of a deprecated maker that warns, and a program may turn warnings into errors.
            if attribute in vars(module):
                setattr(module, attribute, self._recording(api, vars(module)[attribute]))
            else:
                self._patch_deprecated(module, attribute, api)
        if module.__name__ == "jax":
            module.clear_caches = self._clearing(module.clear_caches)  # type: ignore[attr-defined]  # a module, known by its name alone

    def _patch_deprecated(self, module: ModuleType, attribute: str, api: str) -> None:
        """Replace a maker that the module's `__getattr__` hands out, with jax's own warning, from a table."""
        table = vars(module).get("_deprecations")
        if isinstance(table, dict) and attribute in table:
            message, real = table[attribute]
            if callable(real):  # None where jax has withdrawn it
                table[attribute] = (message, self._recording(api, real))

    def _recording(self, api: str, real: Callable[..., Any]) -> Callable[..., Any]:
        """The maker, which hands a shim to the real one and gives back what that makes."""

        def of_user(function: Any) -> bool:
            caller = _caller()
            if caller.partition(".")[0] in _INSIDE:
                return False
            return _is_user_module(caller) or frames.is_user_file(definition(function)[0])

        def make(maker: Callable[..., Any], function: Any, *args: Any, **kwargs: Any) -> Any:
            shim = None
            if callable(function) and not isinstance(function, type) and of_user(function):
                stack = frames.user_stack(1)
                shim = self._shims.of(api, function, stack[0] if stack else ["?", 0, "?"])
            if shim is None:
                return maker(function, *args, **kwargs)
            result = maker(shim, *args, **kwargs)
            self._made(shim, result)
            return _unwrapped(result, shim)

        @_without_our_frames
        @functools.wraps(real)
        def patched(*args: Any, **kwargs: Any) -> Any:
            if args:
                return make(real, *args, **kwargs)
            if callable(kwargs.get("fun")):
                return make(lambda fun, **rest: real(fun=fun, **rest), kwargs.pop("fun"), **kwargs)
            decorator = real(**kwargs)  # `eqx.filter_jit(donate="all")`, `nnx.jit(static_argnames="n")`
            if not callable(decorator):
                return decorator
            return _without_our_frames(lambda function: make(decorator, function))

        return patched

    def _clearing(self, real: Callable[[], None]) -> Callable[[], None]:
        @functools.wraps(real)
        def clear_caches() -> None:
            self._cleared()
            real()

        return clear_caches


def _unwrapped(made: Any, shim: Any) -> Any:
    """What was made, wrapping the user's own function to whoever asks.

    Of a method it is an equal method object: the user's own would keep its shim alive, which keeps it.
    """
    attributes: Any = getattr(made, "__dict__", {})
    if attributes.get("__wrapped__") is shim:
        attributes["__wrapped__"] = shim.__wrapped__
    return made


def _caller() -> str:
    """The module that calls a patched maker. Partials and jax's own decorators in between do not count."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name != __name__ and not name.endswith(".traceback_util"):
            return name
        frame = frame.f_back
    return ""


def _is_user_module(name: str) -> bool:
    module = sys.modules.get(name)
    path = getattr(module, "__file__", None)
    return name == "__main__" or path is None or frames.is_user_file(path)


def _without_our_frames(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose frames, like jax's own, are left out of the tracebacks that a user sees."""
    try:
        from jax._src.traceback_util import api_boundary
    except ImportError:
        return function
    return api_boundary(function)


def hide_frames(directory: str) -> None:
    """Have jax leave the frames of these files out of tracebacks and out of the locations of operations."""
    import glob

    try:
        from jax._src import source_info_util, traceback_util
    except ImportError:
        return
    for path in glob.glob(f"{directory}/*.py"):
        traceback_util.register_exclusion(path)
        source_info_util.register_exclusion(path)
