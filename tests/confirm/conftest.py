"""Runs `jaxlint check --confirm` on programs that a test writes."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest
from checked_programs import Check

from jaxlint.cli import main


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
