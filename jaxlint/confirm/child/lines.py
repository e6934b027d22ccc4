"""What happens when certain lines run: how often, under which calls, while tracing or not, what they change."""

from __future__ import annotations

import gc
import os
import sys
import threading
import tracemalloc
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from . import passing, stack, state, values

Trace = Callable[[FrameType, str, Any], Any]
_MOST = 40  # runs of a line that are sampled; later ones are counted only

_counter = [0]


def tick() -> int:
    """The next moment: one clock for lines, traces and compilations, to tell what came before what."""
    _counter[0] += 1
    return _counter[0]


class Watch:
    """Watches spans [first line, last line] of files. `runs` has, by place, what each run was.

    A run: `at` and `until` (moments), `tracing`, `frame` (the number of the call it ran in), and for the first ones
    `stack`, `before` and `after`, the state (`state.sample`) around the statement, and `changed`, the options of
    jax that it changed. What comes after is missing where the statement did not come to an end; `raised` then names
    the types of what it raised, and `raised_at` the innermost place of the user's that it came from. In a trace
    `transformations` are in progress and `values` are read (`values.read`).
    With `growth`, garbage is collected before each look and the memory of Python and numpy counted, so that
    what is seen to grow is held by someone. With `peaks` a run outside of traces has `peak_bytes` (`passing`).
    """

    def __init__(self, places: list[tuple[str, int, int]], growth: bool = False, peaks: bool = False) -> None:
        self._growth = growth
        self._peaks = peaks
        self._peak: dict[int, passing.Peak] = {}
        self._spans: dict[str, list[tuple[int, int]]] = {}
        for file, first, last in places:
            self._spans.setdefault(os.path.realpath(file), []).append((first, last))
        self.runs: dict[tuple[str, int], list[dict[str, Any]]] = {
            (file, first): [] for file, spans in self._spans.items() for first, _ in spans
        }
        self._codes: dict[CodeType, list[tuple[int, int]]] = {}
        self._files: dict[str, str] = {}
        self._open: dict[FrameType, list[tuple[int, int, dict[str, Any]]]] = {}
        self._frames: dict[FrameType, int] = {}  # those that are running, by number
        self._configurations: dict[int, dict[str, Any]] = {}  # before runs that have not ended, by moment
        self._sizes: dict[int, int] = {}  # bytes of those runs
        self.entered: Callable[[], Any] = lambda: None  # what is being traced, if someone knows

    def __enter__(self) -> Watch:
        if self._spans:
            threading.settrace(self._call)
            sys.settrace(self._call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)
        threading.settrace(None)

    def _call(self, frame: FrameType, event: str, argument: Any) -> Trace | None:
        code = frame.f_code
        spans = self._codes.get(code)
        if spans is None:
            spans = self._codes[code] = self._watched(code)
        if not spans:
            return None
        frame.f_trace_lines = True
        return self._line

    def _watched(self, code: CodeType) -> list[tuple[int, int]]:
        file = self._files.get(code.co_filename)
        if file is None:
            file = self._files[code.co_filename] = os.path.realpath(code.co_filename)
        spans = self._spans.get(file)
        if not spans:
            return []
        lines = {line for _, _, line in code.co_lines() if line is not None}
        return [span for span in spans if any(span[0] <= line <= span[1] for line in lines)]

    def _line(self, frame: FrameType, event: str, argument: Any) -> Trace:
        if event == "line":
            self._close(frame, frame.f_lineno)
            for first, last in self._codes[frame.f_code]:
                if first <= frame.f_lineno <= last and not any(
                    item[0] == first for item in self._open.get(frame, ())
                ):
                    self._begin(frame, first, last)
        elif event == "exception":
            for _, _, run in self._open.get(frame, ()):
                run.setdefault("raised", [kind.__name__ for kind in argument[0].__mro__[:-1]])
                run.setdefault("message", str(argument[1])[:300])
                run.setdefault("raised_at", stack.raised_at(argument[2]))
        elif event == "return":
            self._close(frame, 0)
            self._open.pop(frame, None)
            self._frames.pop(frame, None)
        return self._line

    def _close(self, frame: FrameType, line: int) -> None:
        """End the statements that are left for a line; one on a single line has then begun anew."""
        opened = self._open.get(frame, [])
        for first, last, run in opened[:]:
            if not first <= line <= last or first == last:
                opened.remove((first, last, run))
                self._end(run)

    def _begin(self, frame: FrameType, first: int, last: int) -> None:
        runs = self.runs[self._files[frame.f_code.co_filename], first]
        at = tick()
        number = self._frames.setdefault(frame, at)
        run: dict[str, Any] = {"at": at, "tracing": state.tracing(), "frame": number}
        if len(runs) < _MOST:
            sys.settrace(None)
            self._settle()
            run["before"] = state.sample(self._growth or self._peaks)
            run["stack"] = stack.user_stack(frame)
            run["within"] = self.entered()
            if run["tracing"]:
                run["transformations"] = values.transformations()
                run["values"] = values.read(frame, first, last)
            self._configurations[at] = state.configuration()
            if self._peaks and not run["tracing"] and not self._peak:
                self._peak[at] = passing.Peak()
                self._peak[at].start()
            sys.settrace(self._call)
        self._sizes[at] = state.own(run)
        runs.append(run)
        self._open.setdefault(frame, []).append((first, last, run))

    def _end(self, run: dict[str, Any]) -> None:
        at = run["at"]
        run["until"] = tick()
        if "before" in run:
            sys.settrace(None)
            if at in self._peak:
                run["peak_bytes"] = self._peak.pop(at).stop()
            run["after"] = state.sample(self._growth or self._peaks)
            run["changed"] = state.changes(self._configurations.pop(at), state.configuration())
            sys.settrace(self._call)
        state.own(run, less=self._sizes.pop(at))

    def _settle(self) -> None:
        """Leave nothing in memory but what is held."""
        if not self._growth:
            return
        if not tracemalloc.is_tracing():
            tracemalloc.start(1)
            gc.collect()
            gc.freeze()  # what was there before the first look is not looked through again
        gc.collect()
