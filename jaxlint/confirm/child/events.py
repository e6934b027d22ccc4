"""Every trace and compilation that jax makes, charged to the user's lines that brought it about.

jax.monitoring calls a listener synchronously, within the call that traces or compiles, so that the stack at that
moment is the reason. It is public, and nothing of jax is replaced. From jax 0.6.2 the events name the function.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import re
import sys
from collections.abc import Callable
from typing import Any

from . import lines, stack

_TRACE = "/jax/core/compile/jaxpr_trace_duration"
_COMPILE = "/jax/core/compile/backend_compile_duration"
_JITTED = re.compile(r"jit\((.*)\)")

traces: list[dict[str, Any]] = []
compiles: list[dict[str, Any]] = []


def when_imported(then: Callable[[], None]) -> None:
    """Do something now, or as soon as the program imports jax, which is for it to do."""
    if "jax" in sys.modules:
        then()
    else:
        sys.meta_path.insert(0, _Finder(then))


def listen() -> None:
    """Listen from now on."""
    import jax

    jax.monitoring.register_event_duration_secs_listener(_heard)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds jax once, as the other finders would, and does something when it has been executed."""

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "jax":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_listen(module: Any) -> None:
            execute(module)
            self._then()

        spec.loader.exec_module = execute_and_listen  # type: ignore[method-assign]
        return spec


def _heard(event: str, duration_secs: float, **about: Any) -> None:
    if event not in (_TRACE, _COMPILE):
        return
    name = str(about.get("fun_name", ""))
    jitted = _JITTED.fullmatch(name)
    entry = {
        "at": lines.tick(),
        "name": jitted.group(1) if jitted else name,
        "seconds": duration_secs,
        "stack": stack.user_stack(sys._getframe(1)),
    }
    (traces if event == _TRACE else compiles).append(entry)
