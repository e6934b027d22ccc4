"""What the documentation tells to copy: jobs are YAML, commands are understood, examples are read."""

from __future__ import annotations

import json
import re
import shlex
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
import yaml

from jaxlint.cli import check, main, review
from jaxlint.project import baseline

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def fences(page: Path, language: str) -> list[str]:
    return [text for kind, text in _FENCE.findall(page.read_text(encoding="utf-8")) if kind == language]


def documents(name: str) -> list[Any]:
    return [yaml.safe_load(text) for text in fences(ROOT / "docs" / name, "yaml")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_yaml(page: Path) -> None:
    for text in fences(page, "yaml"):
        assert yaml.safe_load(text)


def commands(page: str) -> list[str]:
    """Every call of jaxlint in a page's jobs and sessions."""
    path = ROOT / "docs" / page
    found = re.findall(r"(?m)^\$ (jaxlint .*)$", "".join(fences(path, "console")))
    return found + re.findall(r"(?m)(?:^|- |run: )\s*(jaxlint .*)$", "".join(fences(path, "yaml")))


@pytest.mark.parametrize("page", ["ci.md", "review.md", "baseline.md", "output-formats.md"])
def test_commands_are_understood(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Namespace] = []
    for module in (check, review):
        monkeypatch.setattr(module, "run", lambda args: calls.append(args) or 0)
    found = commands(page)
    assert found
    for command in found:
        arguments = shlex.split(command.partition(" | ")[0])
        assert main(arguments[1:]) == 0
    assert len(calls) == len(found)


def test_the_workflow_of_github() -> None:
    [workflow] = [each for each in documents("ci.md") if "jobs" in each]
    assert set(workflow[True]) == {"pull_request", "push"}  # YAML 1.1 takes the key `on` for true
    for job in workflow["jobs"].values():
        assert job["runs-on"]
        steps = job["steps"]
        assert all(("uses" in step) != ("run" in step) for step in steps)
        assert steps[0]["uses"].startswith("actions/checkout@")
        assert any("pip install jax-linter" in step.get("run", "") for step in steps)
    assert workflow["jobs"]["review"]["steps"][0]["with"]["fetch-depth"] == 0
    scan = workflow["jobs"]["scan"]
    assert scan["permissions"]["security-events"] == "write"
    upload = scan["steps"][-1]
    assert upload["with"]["sarif_file"] in scan["steps"][-2]["run"]


def test_the_job_of_gitlab() -> None:
    [job] = [each["jaxlint"] for each in documents("ci.md") if "jaxlint" in each]
    assert job["stage"] and job["image"]
    assert all(isinstance(line, str) for line in job["script"])
    assert job["artifacts"]["reports"]["codequality"] in job["script"][1]


def test_the_example_of_a_baseline(tmp_path: Path) -> None:
    [text] = fences(ROOT / "docs" / "baseline.md", "json")
    path = tmp_path / "baseline.json"
    path.write_text(text)
    assert baseline.load(str(path)).stale  # there is no such file
    baseline.load(str(path)).update()
    assert json.loads(path.read_text()) == {"version": 1, "findings": []}
