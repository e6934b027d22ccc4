"""What a record tells: each hazard with the argument that changed, and nothing where there is none."""

from __future__ import annotations

import sys
from collections.abc import Callable

from recorded_programs import FIXTURES

from jaxlint.recording.changes import Cause
from jaxlint.recording.history import Boundary, History


def by_name(history: History) -> dict[str, Boundary]:
    return {boundary.name.rpartition(".")[2]: boundary for boundary in history.boundaries}


def test_each_hazard_is_named(recorded: Callable[..., History]) -> None:
    boundaries = by_name(recorded(sys.executable, str(FIXTURES / "hazards.py")))
    changed = {
        name: {(change.cause, change.argument) for trace in boundary.traces[1:] for change in trace.changes}
        for name, boundary in boundaries.items()
    }
    assert changed == {
        "denoise": {(Cause.STATIC, "level")},
        "rollout": {(Cause.STATIC, "horizon")},
        "<lambda>": {(Cause.FUNCTION, "")},
        "attend": {(Cause.SHAPE, "cache")},
        "update": {(Cause.STATIC, "schedule")},
        "solve": {(Cause.STRUCTURE, "aux")},
        "accumulate": {(Cause.WEAK, "total")},
        "score": {(Cause.FORM, "")},
    }
    counts = {name: len(boundary.traces) for name, boundary in boundaries.items()}
    several = {"denoise": 4, "rollout": 4, "<lambda>": 4, "attend": 4, "update": 4}
    assert counts == {**several, "solve": 2, "accumulate": 2, "score": 2}
    assert {name for name, boundary in boundaries.items() if boundary.retraces} == set(several)
    assert all(trace.compiles == 1 for boundary in boundaries.values() for trace in boundary.traces)


def test_lines_are_the_users(recorded: Callable[..., History]) -> None:
    history = recorded(sys.executable, str(FIXTURES / "hazards.py"))
    source = (FIXTURES / "hazards.py").read_text().splitlines()
    marked = [number for number, line in enumerate(source, start=1) if ":  #" not in line and "  # " in line]
    called = {trace.stack[0].line for boundary in history.boundaries for trace in boundary.traces}
    assert set(marked) <= called
    growing = next(eager for eager in history.eager if "concatenate" in eager.names)
    assert "jnp.concatenate" in source[growing.site.line - 1]
    assert growing.names["concatenate"] == 4


def test_silent_without_hazards(recorded: Callable[..., History]) -> None:
    history = recorded(sys.executable, str(FIXTURES / "steady.py"))
    assert {len(boundary.traces) for boundary in history.boundaries} == {1}
    assert len(history.boundaries) == 8
    assert not any(boundary.retraces for boundary in history.boundaries)
