"""`--add-ignore` on files: what it writes, what it says, and that a second run has nothing left to do."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from jaxlint.cli import main

QUICKSTART = Path(__file__).parents[2] / "fixtures" / "quickstart"
HAZARD = "import jax\nfor i in range(100):\n    jax.jit(lambda x: x + i)(1.0)\n"
SUPPRESSED = HAZARD.replace("(1.0)\n", "(1.0)  # jaxlint: ignore[JAX103]\n")


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    return main([*arguments, "--output-format", "concise"]), *capsys.readouterr()  # type: ignore[return-value]  # a star of a named tuple has no fixed length


def test_quickstart_and_once_more(capsys: pytest.CaptureFixture[str]) -> None:
    for path in QUICKSTART.glob("*.py"):
        shutil.copy(path, path.name)
    assert run(capsys, "--add-ignore") == (0, "", "jaxlint: suppressed 6 findings in 3 files\n")
    texts = {path.name: path.read_text() for path in Path().glob("*.py")}
    changed = [
        line for text in texts.values() for line in text.splitlines() if "# jaxlint: ignore[JAX" in line
    ]
    assert len(changed) == 6
    assert run(capsys) == (0, "", "")
    assert run(capsys, "--add-ignore") == (0, "", "")
    assert {path.name: path.read_text() for path in Path().glob("*.py")} == texts
    assert run(capsys, "--isolated", "--select", "JAX002") == (0, "", "")


def test_those_that_become_useless_go_again(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.py").write_text(HAZARD)
    run(capsys, "--add-ignore")
    assert Path("a.py").read_text() == SUPPRESSED
    Path("a.py").write_text(SUPPRESSED.replace("jax.jit(lambda x: x + i)", "print"))
    status, out, _ = run(capsys, "--fix")
    assert (status, out) == (0, "")
    assert Path("a.py").read_text() == HAZARD.replace("jax.jit(lambda x: x + i)", "print")


def test_what_is_left_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.py").write_text(HAZARD)
    Path("b.py").write_text("import jax\n)\n")
    Path("c.py").write_text("import jax\nx = 1  # jaxlint: ignore[JAX999]\n")
    status, out, err = run(capsys, "--add-ignore")
    assert status == 2
    assert [line.split()[1] for line in out.splitlines()] == ["JAX001", "JAX003"]
    assert "suppressed 1 finding in 1 file" in err
    assert Path("a.py").read_text() == SUPPRESSED


def test_what_is_left_is_where_it_is_now(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a comment that gets one code more the useless code is left, no longer the whole comment."""
    idle = SUPPRESSED.replace("JAX103", "JAX301")
    Path("a.py").write_text(idle)
    _, first, err = run(capsys, "--add-ignore")
    assert err == "jaxlint: suppressed 1 finding in 1 file\n"
    assert "ignore[JAX301, JAX103]" in Path("a.py").read_text()
    column = idle.splitlines()[2].index("JAX301") + 1
    assert first.startswith(f"a.py:3:{column}: JAX002")
    assert run(capsys) == (0, first, "")


def test_only_what_would_be_reported(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.py").write_text(HAZARD)
    assert run(capsys, "--add-ignore", "--ignore", "JAX103") == (0, "", "")
    assert run(capsys, "--add-ignore", "--min-severity", "error") == (0, "", "")
    assert Path("a.py").read_text() == HAZARD


def test_standard_input_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "-", "--add-ignore")
    assert (status, out, err.count("\n")) == (2, "", 1)


def test_links_are_followed_within_the_given_paths(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("real.py").write_text(HAZARD)
    os.chmod("real.py", 0o640)
    Path("link.py").symlink_to("real.py")
    (directory / "outside.py").write_text(HAZARD)
    Path("away.py").symlink_to("../outside.py")
    status, out, _ = run(capsys, "--add-ignore", ".")
    assert status == 1 and out.startswith("away.py:3:5: JAX103")
    assert (directory / "outside.py").read_text() == HAZARD
    assert Path("real.py").read_text() == SUPPRESSED and Path("link.py").is_symlink()
    assert Path("real.py").stat().st_mode & 0o777 == 0o640


def test_a_file_that_cannot_be_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("a.py").write_text(HAZARD)

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    status, out, err = run(capsys, "--add-ignore", "--no-cache")
    assert status == 2 and "a.py: cannot write: No space left" in err and "JAX103" in out
    assert Path("a.py").read_text() == HAZARD
    assert sorted(os.listdir()) == ["a.py"]
