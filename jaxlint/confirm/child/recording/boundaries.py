"""The jit boundaries of this process, and the traces of each."""

from __future__ import annotations

import contextlib
import inspect
import json
import threading
from collections.abc import Iterator
from typing import Any

from . import arguments, settings
from .definitions import definition, name_of
from .frames import user_stack
from .journal import Journal
from .signature import form, signature

_KEPT = 4  # signatures of a boundary that are kept in a form to be made again


class Boundary:
    """One function, by its definition, as one api jits it. `wraps` counts how often it was handed to the api."""

    def __init__(self, number: int, name: str) -> None:
        self.number = number
        self.name = name
        self.wraps = 0
        self.traces = 0
        self.seen: dict[str, int] = {}  # signatures, by their text: the number of the first trace that had it


class Work(threading.local):
    """What a thread is at."""

    def __init__(self) -> None:
        self.tracing: list[Boundary] = []  # boundaries whose functions are being traced, outermost first
        self.traced: list[tuple[Boundary, int]] = []  # traces that nothing has been compiled for yet
        self.trace_s = 0.0  # of the trace that ended last
        self.lower_s = 0.0
        self.loaded = False


class Boundaries:
    """All boundaries that were made."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._known: dict[tuple[str, str], Boundary] = {}
        self.work = Work()

    def of(self, api: str, function: Any, wrapped: list[Any]) -> Boundary:
        """The boundary of a function, noted when it is the first one."""
        place, name = definition(function), name_of(function)
        key = (api, json.dumps([place, name]))
        boundary = self._known.get(key)
        if boundary is None:
            boundary = self._known[key] = Boundary(len(self._known) + 1, name)
            self._journal.write_sources([place, wrapped])
            self._journal.write(
                "boundary", id=boundary.number, api=api, name=name, place=place, wrapped=wrapped
            )
        return boundary

    def compiled(self, name: str | None) -> tuple[Boundary | None, int | None]:
        """The trace that is being compiled: the last one of a function of this name (jax before 0.6 gives no name).

        What was traced inside it is compiled with it, and no longer waits.
        """
        traced = self.work.traced
        for index in range(len(traced) - 1, -1, -1):
            if name is None or _last(traced[index][0].name) == name:
                first = 0 if name is None else index
                found = traced[first]
                del traced[first:]
                return found
        return None, None

    @contextlib.contextmanager
    def note_trace(
        self,
        boundary: Boundary,
        serial: int,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        parameters: inspect.Signature | None,
    ) -> Iterator[None]:
        """Note a trace, and be at it while the block runs."""
        work = self.work
        try:
            self._write_trace(boundary, serial, args, kwargs, parameters)
        except Exception as error:  # a flaw of ours is not to become the program's
            self._journal.write("flaw", boundary=boundary.number, error=f"{type(error).__name__}: {error}")
        work.tracing.append(boundary)
        try:
            yield
        finally:
            work.tracing.pop()

    def _write_trace(
        self,
        boundary: Boundary,
        serial: int,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        parameters: inspect.Signature | None,
    ) -> None:
        boundary.traces += 1
        self.work.traced.append((boundary, boundary.traces))
        stack = user_stack()
        self._journal.write_sources(stack)
        entries = signature(args, kwargs, parameters)
        first = boundary.seen.setdefault(json.dumps(entries, sort_keys=True), boundary.traces)
        shown: dict[str, Any] = {"same_as": first}
        if first == boundary.traces:
            shown = {"signature": entries, **_inputs(boundary, args, kwargs)}
        self._journal.write(
            "trace",
            boundary=boundary.number,
            number=boundary.traces,
            stack=stack,
            callable=serial,
            wraps=boundary.wraps,
            form=form(args, kwargs),
            options=settings.changed(),
            nested=bool(self.work.tracing),
            **shown,
        )


def _last(name: str) -> str:
    """The name that jax gives: `__name__`."""
    return name.removeprefix("partial(").removesuffix(")").rpartition(".")[2]


def _inputs(boundary: Boundary, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    if len(boundary.seen) > _KEPT:
        return {}
    with contextlib.suppress(Exception):  # a user's class may fail at being looked at
        inputs = arguments.encoded(args, kwargs)
        return {} if inputs is None else {"inputs": inputs}
    return {}
