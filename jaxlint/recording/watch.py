"""What is traced again in this process, for tests: see the fixture `no_retrace` of the pytest plugin."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType
from typing import Any

from jaxlint.recording.history import Boundary, of_lines

_KINDS = ("boundary", "trace")


class Retraced(AssertionError):
    """Something was traced again that was to be warm. The text says what, where and why."""


class Watched:
    """The boundaries and traces of this process, as far as somebody is watching."""

    _known: Watched | None = None

    def __init__(self) -> None:
        self._lines: list[dict[str, Any]] = []

    @classmethod
    def of(cls, listeners: list[Callable[[dict[str, Any]], object]]) -> Watched:
        """The one of this process, listening."""
        if cls._known is None:
            cls._known = cls()
            listeners.append(cls._known._hear)
        return cls._known

    def _hear(self, line: dict[str, Any]) -> None:
        if line["kind"] in _KINDS:
            self._lines.append(line)

    def boundaries(self) -> tuple[Boundary, ...]:
        """What was made and traced so far."""
        return of_lines("", self._lines).boundaries


class NoRetrace:
    """From now on, or within the `with` block, no boundary may be traced that was traced before."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._warm = {_key(boundary): len(boundary.traces) for boundary in watched.boundaries()}
        self._over = False

    def __enter__(self) -> NoRetrace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        __tracebackhide__ = True  # pytest shows the line of the test
        if error is None:
            self.check()
        self._over = True

    def check(self) -> None:
        """Raises Retraced."""
        __tracebackhide__ = True
        if self._over:
            return
        self._over = True
        found = [text for boundary in self._watched.boundaries() for text in self._again(boundary)]
        if found:
            raise Retraced("traced again after the warm-up:\n" + "\n".join(found))

    def _again(self, boundary: Boundary) -> list[str]:
        warm = self._warm.get(_key(boundary), 0)
        return [
            f"  `{boundary.name}` ({_shown(boundary.place.path)}:{boundary.place.line}), called from "
            f"{_shown(trace.stack[0].path)}:{trace.stack[0].line}: "
            + "; ".join(change.text for change in trace.changes)
            for trace in boundary.traces[max(warm, 1) :]
            if not trace.nested and trace.stack
        ]


def _key(boundary: Boundary) -> tuple[Any, ...]:
    return boundary.pid, boundary.api, boundary.name, boundary.place


def _shown(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative
