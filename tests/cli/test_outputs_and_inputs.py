"""What is given to be read is never written over."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.cli import main

CACHED = "Persistent compilation cache hit for 'jit_step' with key 'jit_step-0123456789abcdef'\n"


def test_a_log_is_not_replaced_by_its_own_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "run.log"
    log.write_text("epoch 1\nKilled\n")
    assert main(["triage", str(log), "--html", str(log)]) == 2
    assert log.read_text() == "epoch 1\nKilled\n"
    assert "given to be read" in capsys.readouterr().err


def test_nor_is_a_file_in_a_directory_that_was_given(tmp_path: Path) -> None:
    capture = Path(__file__).resolve().parents[2] / "fixtures" / "captures"
    content = next(
        path for path in sorted(capture.iterdir()) if path.name.endswith(".xplane.pb")
    ).read_bytes()
    inside = tmp_path / "host.xplane.pb"
    inside.write_bytes(content)
    assert main(["oom", str(tmp_path), "--html", str(inside)]) == 2
    assert inside.read_bytes() == content


def test_a_log_of_what_the_cache_held_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "run.log"
    log.write_text(CACHED * 3)
    assert main(["triage", str(log)]) == 0
    assert "internal error" not in capsys.readouterr().err


def test_nor_is_a_source_that_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "program.py"
    source.write_text("import jax\n")
    assert main(["check", "--no-cache", str(source), "--output-file", str(source)]) == 2
    assert source.read_text() == "import jax\n"
    assert "given to be read" in capsys.readouterr().err
