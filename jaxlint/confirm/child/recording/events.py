"""Layer A: what jax.monitoring tells. Its listeners run inside the call that traces, lowers or compiles."""

from __future__ import annotations

import re
import time
from typing import Any

from . import usage
from .boundaries import Boundaries
from .frames import user_stack
from .journal import Journal

_TRACED = "/jax/core/compile/jaxpr_trace_duration"
_LOWERED = "/jax/core/compile/jaxpr_to_mlir_module_duration"
_COMPILED = "/jax/core/compile/backend_compile_duration"
_LOADED = "/jax/compilation_cache/cache_hits"

_JITTED = re.compile(r"\w+\((.*)\)")  # jit(step), pmap(step)


class Listener:
    """Notes each executable that is made, with the boundary whose trace it was made of, if any."""

    def __init__(self, journal: Journal, boundaries: Boundaries) -> None:
        self._journal = journal
        self._boundaries = boundaries
        self._sampler = usage.Sampler(journal)

    def register(self) -> None:
        """Listen from now on."""
        from jax import monitoring

        monitoring.register_event_duration_secs_listener(self._duration)
        monitoring.register_event_listener(self._event)

    def _event(self, event: str, **_: Any) -> None:
        if event == _LOADED:
            self._boundaries.work.loaded = True

    def _duration(self, event: str, duration_secs: float, **fields: Any) -> None:
        work = self._boundaries.work
        if event == _TRACED:  # nested traces end before the outer one, which takes their time in
            work.trace_s = duration_secs
        elif event == _LOWERED:
            work.lower_s = duration_secs
        elif event == _COMPILED:
            try:
                self._compiled(duration_secs, fields.get("fun_name"))
            except Exception as error:  # a flaw of ours is not to become the program's
                self._journal.write("flaw", error=f"{type(error).__name__}: {error}")

    def _compiled(self, seconds: float, named: Any) -> None:
        work = self._boundaries.work
        name = _function(named)
        boundary, trace = self._boundaries.compiled(name)
        stack = user_stack()
        self._journal.write_sources(stack)
        self._journal.write(
            "compile",
            name=name or (boundary.name if boundary else "?"),
            stack=stack,
            boundary=boundary.number if boundary else None,
            trace=trace,
            trace_s=round(work.trace_s, 6),
            lower_s=round(work.lower_s, 6),
            compile_s=round(seconds, 6),
            loaded=work.loaded,
        )
        work.trace_s = work.lower_s = 0.0
        work.loaded = False
        self._sampler.consider(time.perf_counter())


def _function(named: Any) -> str | None:
    if not isinstance(named, str):
        return None
    inside = _JITTED.fullmatch(named)
    return inside[1] if inside else named
