"""Runs `jaxlint check --confirm` on programs that a test writes."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jaxlint.cli import main

Check = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def confirm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Write files, check them with --confirm, and return the findings. Options are words after the files."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)

    def check(files: dict[str, str], *options: str) -> list[dict[str, Any]]:
        for name, text in files.items():
            path = project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        main(["check", "--no-cache", "--confirm", "--preview", "--output-format", "json", *options, "."])
        return list(json.loads(capsys.readouterr().out))

    return check


def verdicts(findings: list[dict[str, Any]], code: str) -> list[dict[str, Any]]:
    """The verdicts on the findings of a rule."""
    return [verdict for finding in findings if finding["code"] == code for verdict in finding["confirm"]]
