"""Programs run under `jaxlint record`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded_programs import QUIET, Run

from jaxlint.recording.history import History, read


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a program with the recorder: its record is `tmp_path/"record.jsonl"`."""

    def go(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "jaxlint", "record", "-o", str(tmp_path / "record.jsonl"), "--", *command],
            cwd=tmp_path,
            env={**QUIET, **variables},
            capture_output=True,
            text=True,
            timeout=300,
        )

    return go


@pytest.fixture
def recorded(run: Run, tmp_path: Path) -> Callable[..., History]:
    """Run a program that ends well, and read its record."""

    def go(*command: str) -> History:
        done = run(*command)
        assert done.returncode == 0, done.stderr
        return read(str(tmp_path / "record.jsonl"))

    return go
