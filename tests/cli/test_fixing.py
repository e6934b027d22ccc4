"""`--fix`, `--unsafe-fixes`, `--diff` and `--exit-non-zero-on-fix`."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from jaxlint.cli import main

HEAD = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\n@jax.jit\ndef f(x):\n"
BAD = HEAD + "    return np.sin(x)\n"  # JAX206, a safe fix
GOOD = HEAD + "    return jnp.sin(x)\n"
UNSAFE = (
    "import functools\nimport jax\nimport numpy as np\n\n\n@functools.cache\ndef load(name):\n"
    "    return np.load(name)\n\n\nfor i in range(100):\n    load(str(i))\n"
)  # JAX402


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.jaxlint]\n")
    return tmp_path


@pytest.fixture
def bad(project: Path) -> Path:
    path = project / "a.py"
    path.write_text(BAD)
    return path


def run(*arguments: str) -> int:
    return main(["--output-format", "concise", "--no-cache", *arguments])


def test_fix(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--fix", "a.py") == 0
    assert bad.read_text() == GOOD
    assert capsys.readouterr() == ("", "jaxlint: fixed 1 finding in 1 file: JAX206\n")
    assert run("--fix", "a.py") == 0
    assert capsys.readouterr() == ("", "")


def test_exit_non_zero_on_fix(bad: Path) -> None:
    assert run("--fix", "--exit-non-zero-on-fix", "a.py") == 1
    assert run("--fix", "--exit-non-zero-on-fix", "a.py") == 0
    bad.write_text(BAD)
    assert run("--fix", "--exit-non-zero-on-fix", "--exit-zero", "a.py") == 0


def test_diff(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--diff", "a.py") == 1
    assert bad.read_text() == BAD
    out, err = capsys.readouterr()
    assert out.startswith("--- a.py\n+++ a.py\n@@ ")
    assert "\n-    return np.sin(x)\n+    return jnp.sin(x)\n" in out
    assert err == "jaxlint: would fix 1 finding in 1 file: JAX206\n"
    assert run("--diff", "--exit-zero", "a.py") == 0
    bad.write_text(GOOD)
    capsys.readouterr()
    assert run("--diff", "a.py") == 0
    assert capsys.readouterr() == ("", "")


def test_unsafe_fixes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = project / "a.py"
    path.write_text(UNSAFE)
    assert run("--fix", "a.py") == 1
    assert run("--unsafe-fixes", "a.py") == 1
    assert path.read_text() == UNSAFE
    assert run("--fix", "--unsafe-fixes", "a.py") == 0
    assert "@functools.lru_cache(maxsize=16)" in path.read_text()


def test_what_is_not_reported_is_not_fixed(bad: Path) -> None:
    for arguments in (["--ignore", "JAX206"], ["--select", "JAX1"]):
        assert run("--fix", "a.py", *arguments) == 0
        assert bad.read_text() == BAD
    suppressed = BAD.replace("np.sin(x)\n", "np.sin(x)  # jaxlint: ignore[JAX206] meant\n")
    bad.write_text(suppressed)
    assert run("--fix", "a.py") == 0
    assert bad.read_text() == suppressed
    bad.write_text(BAD)
    (bad.parent / "pyproject.toml").write_text('[tool.jaxlint.per-file-ignores]\n"a.py" = ["JAX206"]\n')
    assert run("--fix", "a.py") == 0
    assert bad.read_text() == BAD


def test_unused_suppression_is_removed_and_the_file_judged_anew(bad: Path) -> None:
    bad.write_text(BAD.replace("np.sin(x)\n", "np.sin(x)  # jaxlint: ignore[JAX101] not needed\n"))
    assert run("--fix", "a.py") == 0
    assert bad.read_text() == GOOD


def test_standard_input(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, bad: Path
) -> None:
    """The fixed source alone is on standard output; the file of that name is not touched."""
    bad.write_text("x = 1\n")

    def pipe(text: str, *arguments: str) -> tuple[int, bytes, bytes]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        status = run(*arguments, "--stdin-filename", "a.py", "-")
        out, err = capsysbinary.readouterr()
        return status, out, err

    crlf = BAD.replace("\n", "\r\n")
    status, out, err = pipe(crlf, "--fix")
    assert (status, out) == (0, GOOD.replace("\n", "\r\n").encode())
    assert b"fixed 1 finding" in err
    assert pipe(GOOD, "--fix") == (0, GOOD.encode(), b"")
    status, out, err = pipe(UNSAFE, "--fix")
    assert (status, out) == (1, UNSAFE.encode())
    assert b"JAX402" in err
    status, out, err = pipe("import jax\nx = (\n", "--fix")
    assert (status, out) == (2, b"import jax\nx = (\n")
    assert pipe(BAD, "--diff")[:2] == (1, pipe(BAD, "--diff")[1])
    assert bad.read_text() == "x = 1\n"


def test_symbolic_link(bad: Path, project: Path) -> None:
    link = project / "link.py"
    link.symlink_to("a.py")
    assert run("--fix", "link.py") == 0
    assert link.is_symlink()
    assert bad.read_text() == GOOD


def test_a_link_out_of_the_given_directory_is_not_followed(
    bad: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "src").mkdir()
    (project / "src" / "link.py").symlink_to(bad)
    assert run("--fix", "src") == 1
    out, err = capsys.readouterr()
    assert "JAX206" in out
    assert "src/link.py: not fixed: it leads to" in err
    assert bad.read_text() == BAD
    assert run("--fix", "src/link.py") == 0
    assert bad.read_text() == GOOD


def test_read_only_file(bad: Path, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line about it, and the other files are fixed."""
    other = project / "b.py"
    other.write_text(BAD)
    bad.chmod(0o444)
    assert run("--fix", ".") == 2
    out, err = capsys.readouterr()
    assert err.splitlines() == [
        "jaxlint: a.py: cannot write: Permission denied",
        "jaxlint: fixed 1 finding in 1 file: JAX206",
    ]
    assert [line.partition(" ")[0] for line in out.splitlines()] == ["a.py:8:12:"], "what is left is reported"
    assert (bad.read_text(), other.read_text()) == (BAD, GOOD)
    assert sorted(os.listdir(project)) == ["a.py", "b.py", "pyproject.toml"]


def test_a_file_that_cannot_be_parsed_keeps_the_others_from_nothing(bad: Path, project: Path) -> None:
    (project / "broken.py").write_text("import jax\nx = (\n")
    assert run("--fix", ".") == 2
    assert bad.read_text() == GOOD
    assert (project / "broken.py").read_text() == "import jax\nx = (\n"


def test_a_fix_is_seen_by_the_modules_that_depend_on_it(bad: Path, project: Path) -> None:
    """Two modules are fixed in one run; the one imports the other."""
    (project / "b.py").write_text(
        "import jax\nimport jax.numpy as jnp\nimport numpy as np\nfrom a import f\n\n\n"
        "@jax.jit\ndef g(x):\n    return np.cos(f(x))\n"
    )
    assert run("--fix", ".") == 0
    assert bad.read_text() == GOOD
    assert "jnp.cos(f(x))" in (project / "b.py").read_text()


def test_report_shows_the_fixed_text(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Excerpts are of the files as they have become."""
    path = project / "a.py"
    path.write_text(BAD + UNSAFE)
    assert main(["--fix", "--no-cache", "--output-format", "full", "a.py"]) == 1
    out, _ = capsys.readouterr()
    assert "@functools.cache" in out and "np.sin" not in out
