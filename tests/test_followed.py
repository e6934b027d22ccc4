"""Small programs of our own, in other dress than those of the blind batches: what taught us a kind, spelled anew.

`bad_*` have the hazard at the marked lines, `good_*` come as close to it as we can without.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from test_accuracy import covers, findings, marks

from jaxlint.finding import Severity

PROGRAMS = Path(__file__).resolve().parents[1] / "fixtures" / "followed"


def programs(kind: str) -> list[Path]:
    return sorted(PROGRAMS.glob(f"JAX*/{kind}_*"))


def name(program: Path) -> str:
    return program.relative_to(PROGRAMS).as_posix()


@pytest.mark.parametrize("program", programs("bad"), ids=name)
def test_hazard_is_found(program: Path, tmp_path: Path) -> None:
    found = findings(program, tmp_path)
    assert marks(program)
    assert not {mark for mark in marks(program) if not any(covers(finding, *mark) for finding in found)}


@pytest.mark.parametrize("program", programs("good"), ids=name)
def test_nothing_is_said_of_good_code(program: Path, tmp_path: Path) -> None:
    found = [finding for finding in findings(program, tmp_path) if finding.severity is not Severity.INFO]
    assert [(finding.path, finding.span.line, finding.message) for finding in found] == []
