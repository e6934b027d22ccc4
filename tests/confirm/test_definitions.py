"""A compilation of which only the name is known is evidence only where the program has one function of the name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jaxlint.confirm.arms import definitions
from jaxlint.confirm.observed import Observed


def _compiled(file: Path, name: str, line: int, boundary: int | None = None) -> dict[str, Any]:
    return {"name": name, "boundary": boundary, "function": None, "stack": [[str(file), line, "main"]]}


def _seen(*boundaries: dict[str, Any]) -> Observed:
    empty: dict[str, Any] = {key: [] for key in ("compiles", "traces", "warnings", "lines")}
    return Observed({**empty, "printed": "", "raised": None, "boundaries": boundaries})


@pytest.mark.parametrize(
    ("source", "name", "told"),
    [
        ("f = lambda x: x\n", "<lambda>", True),
        ("f = lambda x: x\ng = lambda x: x\n", "<lambda>", False),
        ("def step(x):\n    return x\n", "step", True),
        ("def a():\n    def step(x): ...\ndef b():\n    def step(x): ...\n", "step", False),
        ("f = lambda x: x\ng = lambda x: x\n", "scan", True),
    ],
)
def test_two_functions_of_a_name_are_not_told_apart_by_it(
    tmp_path: Path, source: str, name: str, told: bool
) -> None:
    file = tmp_path / "program.py"
    file.write_text(source)
    events = [_compiled(file, name, 9), _compiled(file, name, 9)]
    assert bool(definitions.ambiguous(events, _seen(), anew=True)) is not told


def test_what_runs_eagerly_is_told_by_its_line(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    first, second = (definitions.of(_compiled(file, "scan", line)) for line in (4, 9))
    assert first != second
    assert definitions.of(_compiled(file, "scan", 4)) == first
