"""A whole program under observation: what it raised and printed, what jax traced, what its lines changed.

The program runs as `python FILE` runs it, in this process; a test module runs under pytest.
"""

from __future__ import annotations

import os
import re
import runpy
import signal
import sys
import tempfile
import warnings
from types import ModuleType
from typing import Any

from . import events, functions, kept, load, serve, state
from .lines import Watch, tick
from .recording.waiting import Waiting

_TEST = re.compile(r"(test_.*|.*_test)\.py")


def run(
    file: str,
    watched: list[tuple[str, int, int]],
    growth: bool = False,
    peaks: bool = False,
    hold: bool = False,
    disable_jit: bool = False,
    seconds: float = 0.0,
    module: str = "",
    root: str = "",
    wanted: list[dict[str, Any]] | None = None,
    keep: list[list[Any]] | None = None,
) -> dict[str, Any]:
    """Run the program in `file` and watch lines of it: (file, first line, last line) of statements.

    With `module`, a dotted name below the directory `root`, the file is imported instead, and the functions
    `wanted` ({"name", "given", "how"}) are traced or called: `exercised` is what came of each
    (`functions.exercise`).

    `traces` and `compiles` are those of `events`; `lines` the runs of the watched statements (`lines.Watch`);
    `boundaries` as in `kept.described`, where `keep` names traces to be kept in any case and `hold` keeps jitted
    methods alive; `warnings` are
    [category, message, file, line, moment]; `printed` is what the program wrote to stdout; `raised` as in
    `serve.raised`, or None; `stopped` whether it was cut short after `seconds`; `config` and `environment` what
    they were at the end.
    """
    if disable_jit:
        import jax

        config: Any = jax.config
        config.update("jax_disable_jit", True)
    Waiting(lambda imported: _observe(imported, keep or [], hold)).begin()
    signal.signal(signal.SIGALRM, _time_is_up)
    told: list[list[Any]] = []
    watch = Watch([(path, first, last) for path, first, last in watched], growth, peaks)
    watch.entered = kept.tracing
    with tempfile.TemporaryFile() as printed:
        with _Printing(printed), warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = lambda message, category, filename, lineno, *_: told.append(
                [category.__name__, str(message)[:500], filename, lineno, tick()]
            )
            # Once more each second: the first may end in a callback, where exceptions are let go of.
            signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
            exercised: list[dict[str, Any]] = []
            if module:
                raised = _run_module(file, module, root, watch, wanted or [], exercised)
            else:
                raised = _run(file, watch)
            signal.setitimer(signal.ITIMER_REAL, 0)
        printed.seek(0)
        text = printed.read(1 << 16).decode(errors="replace")
    return {
        "raised": None if _stopped else raised,
        "stopped": bool(_stopped),
        "exercised": exercised,
        "printed": text,
        "warnings": told,
        "traces": events.traces,
        "compiles": events.compiles,
        "boundaries": kept.described(),
        "lines": [[path, line, runs] for (path, line), runs in watch.runs.items()],
        "config": {name: repr(value) for name, value in state.configuration().items()},
        "environment": state.environment(),
        "backend": state.backend_started(),
    }


def _observe(imported: ModuleType, keep: list[list[Any]], hold: bool) -> None:
    """Listen to what jax does, and keep what it traces. One of the modules that make boundaries was imported."""
    if imported.__name__ == "jax":
        events.listen()
        kept.begin(keep, hold)
    kept.patch(imported)


class _TimeIsUp(BaseException):
    """The program has run for as long as it may; what it did so far counts."""


_stopped: list[bool] = []


def _time_is_up(*_: Any) -> None:
    _stopped.append(True)
    raise _TimeIsUp


def _run(file: str, watch: Watch) -> dict[str, Any] | None:
    """Run it. What it raised, except for an exit that says all is well."""
    sys.argv = [file]
    sys.path.insert(0, os.path.dirname(file))
    if _TEST.fullmatch(os.path.basename(file)):
        return _run_tests(file, watch)
    try:
        with watch:
            runpy.run_path(file, run_name="__main__")
    except SystemExit as stop:
        return None if stop.code in (None, 0) else serve.raised(stop)
    except BaseException as error:
        signal.setitimer(signal.ITIMER_REAL, 0)
        return serve.raised(error)
    return None


def _run_module(
    file: str,
    name: str,
    root: str,
    watch: Watch,
    wanted: list[dict[str, Any]],
    exercised: list[dict[str, Any]],
) -> dict[str, Any] | None:
    """Import a module and use its functions. What the import raised."""
    sys.path.insert(0, root)
    with watch:
        try:
            module = load.user_module(name, file)
        except BaseException as error:
            return serve.raised(error)
        exercised += [functions.exercise(module, **one) for one in wanted]
    return None


def _run_tests(file: str, watch: Watch) -> dict[str, Any] | None:
    """Run a test module. What the first test that failed raised."""
    try:
        import pytest
    except ModuleNotFoundError:
        raise RuntimeError("the tests need pytest, which the interpreter does not have") from None
    failures: list[dict[str, Any]] = []

    class Collect:
        def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
            if call.excinfo is not None and not call.excinfo.errisinstance(pytest.skip.Exception):
                failures.append(serve.raised(call.excinfo.value))

    with watch:
        pytest.main(["-q", "-p", "no:cacheprovider", "--capture=no", file], plugins=[Collect()])
    return failures[0] if failures else None


class _Printing:
    """What is written to stdout goes to a file meanwhile, also what other code than Python's writes."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __enter__(self) -> None:
        sys.stdout.flush()
        self._saved = os.dup(1)
        os.dup2(self._file.fileno(), 1)

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()
        os.dup2(self._saved, 1)
        os.close(self._saved)
