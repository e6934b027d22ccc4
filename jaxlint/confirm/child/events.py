"""Every trace and compilation that jax makes, charged to the user's lines that brought it about.

jax.monitoring calls a listener synchronously, within the call that traces or compiles, so that the stack at that
moment is the reason. It is public, and nothing of jax is replaced. From jax 0.6.2 the events name the function.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from . import kept, lines, stack, state

_TRACE = "/jax/core/compile/jaxpr_trace_duration"
_COMPILE = "/jax/core/compile/backend_compile_duration"
_JITTED = re.compile(r"jit\((.*)\)")

traces: list[dict[str, Any]] = []
compiles: list[dict[str, Any]] = []


def listen() -> None:
    """Listen from now on."""
    import jax

    jax.monitoring.register_event_duration_secs_listener(_heard)


def _heard(event: str, duration_secs: float, **about: Any) -> None:
    if event not in (_TRACE, _COMPILE):
        return
    name = str(about.get("fun_name", ""))
    jitted = _JITTED.fullmatch(name)
    name = jitted.group(1) if jitted else name
    entry = {
        "at": lines.tick(),
        "name": name,
        "seconds": duration_secs,
        "stack": stack.user_stack(sys._getframe(1)),
    }
    if event == _COMPILE:
        entry.update(kept.compiled(name))
    (traces if event == _TRACE else compiles).append(entry)
    state.own(entry)
