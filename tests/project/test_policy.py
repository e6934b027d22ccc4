"""Which findings a project's settings let through, and how severe they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import made_engine
import pytest

from jaxlint.finding import Confidence, Severity
from jaxlint.project.files import SourceFile
from jaxlint.project.policy import Policy
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings

SOURCE = "x = 1\nhazard101\nhazard103\nhazard301\nhazard304\nhazard306\n"


def policy(root: str = "/project", **settings: Any) -> Policy:
    return Policy(Project(root, Settings(**settings)), made_engine.RULES, min_severity=Severity.INFO)


def reported(made: Policy, source: str = SOURCE, path: str = "pkg/a.py") -> dict[str, Severity]:
    file = SourceFile(path, f"{made.project.root}/{path}", source.encode())
    found = made_engine.check([file], made.project, made.project.settings, made.rules, jobs=1, cache=False)
    return {finding.code: finding.severity for finding in made.report(file, found)}


def codes(source: str = SOURCE, path: str = "pkg/a.py", **settings: Any) -> list[str]:
    return sorted(reported(policy(**settings), source, path))


def test_stable_rules_by_default() -> None:
    assert codes() == ["JAX101", "JAX103", "JAX301", "JAX304"]
    assert codes(preview=True) == ["JAX101", "JAX103", "JAX301", "JAX304", "JAX306"]


def test_select_and_ignore() -> None:
    assert codes(select=("JAX1",)) == ["JAX101", "JAX103"]
    assert codes(select=("JAX1",), extend_select=("missing-donation",)) == ["JAX101", "JAX103", "JAX301"]
    assert codes(ignore=("JAX3", "jit-in-loop")) == ["JAX101"]


def test_severities_of_the_project() -> None:
    made = policy(severity={"JAX3": Severity.INFO, "JAX301": Severity.WARNING, "jit-in-loop": Severity.ERROR})
    assert reported(made) == {
        "JAX101": Severity.WARNING,
        "JAX103": Severity.ERROR,
        "JAX301": Severity.WARNING,
        "JAX304": Severity.INFO,
    }


def test_thresholds() -> None:
    assert codes(min_severity=Severity.ERROR) == ["JAX301"]
    assert codes(min_severity=Severity.ERROR, severity={"JAX103": Severity.ERROR}) == ["JAX103", "JAX301"]
    assert codes(min_confidence=Confidence.HIGH) == []
    assert len(codes(min_confidence=Confidence.MEDIUM)) == 4


def test_failures_are_reported_whatever_the_thresholds() -> None:
    assert codes("x = (\n", select=("JAX103",), min_severity=Severity.ERROR) == ["JAX001"]
    assert codes("x = (\n", ignore=("ALL",)) == ["JAX001"]
    assert codes("x = (\n", ignore=("JAX001",)) == ["JAX001"]


@pytest.mark.parametrize("pattern", ["tests", "tests/*", "test_*.py", "tests/deep/test_a.py"])
def test_ignored_in_some_files(pattern: str) -> None:
    ignores = {pattern: ("JAX1", "missing-donation")}
    assert codes(path="tests/deep/test_a.py", per_file_ignores=ignores) == ["JAX304"]
    assert len(codes(path="pkg/a.py", per_file_ignores=ignores)) == 4


def test_files_that_are_not_to_be_parsed() -> None:
    assert codes("x = (\n", per_file_ignores={"pkg": ("JAX001",)}) == []
    assert codes("x = (\n", per_file_ignores={"pkg": ("ALL",)}) == ["JAX001"]


def test_suppressed_findings() -> None:
    assert codes("hazard103  # jaxlint: ignore[JAX103]\nhazard101  # noqa\n") == []


def test_unused_suppressions_of_rules_that_run() -> None:
    source = "x = 1  # jaxlint: ignore[JAX103]\n"
    assert codes(source) == ["JAX002"]
    assert codes(source, ignore=("JAX103",)) == []
    assert codes(source, per_file_ignores={"pkg": ("JAX103",)}) == []
    assert codes(source, ignore=("JAX002",)) == []
    assert codes(source, select=("JAX103",)) == []
    assert codes(source, select=("JAX103", "JAX002")) == ["JAX002"]
    assert codes("x = 1  # jaxlint: ignore[JAX306]\n") == []


def test_a_suppression_is_used_although_the_threshold_hides_its_finding() -> None:
    source = "hazard304  # jaxlint: ignore[JAX304]\n"
    assert codes(source, min_severity=Severity.WARNING) == []
    assert codes(source) == []


def test_a_file_that_fails_has_no_unused_suppressions() -> None:
    assert codes("x = (  # jaxlint: ignore[JAX103]\n") == ["JAX001"]
    assert codes("x = (  # jaxlint: ignore[JAX001]\n") == []


def test_selectors_that_name_nothing(tmp_path: Path) -> None:
    path = tmp_path / "jaxlint.toml"
    path.write_text('preview = false\nignore = ["JAX104", "JAX3"]\n[per-file-ignores]\n"a" = ["JAX9"]\n')
    made = policy(str(tmp_path), file=str(path), ignore=("JAX104", "JAX3"), per_file_ignores={"a": ("JAX9",)})
    first, second = made.mistakes_in_settings()
    assert (first.code, first.path, first.span.line) == ("JAX003", path.as_posix(), 2)
    assert "JAX104" in first.message
    assert (second.span.line, second.span.column) == (4, 8)
    assert sorted(reported(made)) == ["JAX101", "JAX103"]


def test_a_selection_of_mistakes_is_not_all() -> None:
    made = policy(select=("JAX9",))
    assert made.rules == []
    assert [finding.code for finding in made.mistakes] == ["JAX003"]
