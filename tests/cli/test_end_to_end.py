"""The whole of it on files of every odd kind: the findings are the same, and nobody sees a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jaxlint.cli import main

BROKEN = Path(__file__).parents[2] / "fixtures" / "broken"
IMPORTS = "import jax\nimport jax.numpy as jnp\n"
HAZARD = "def run():\n    for i in range(100):\n        f = jax.jit(lambda x: x + i)\n        f(1.0)\nrun()\n"

# What stands between the imports and the hazard, and how the text becomes bytes.
ODD: dict[str, tuple[str, str]] = {
    "plain": ("", "utf-8"),
    "byte order mark": ("", "utf-8-sig"),
    "line separators": ("x = '\x0c \x1c \x85 \u2028'\n\x0c\n", "utf-8"),
    "wide characters": ("日本 = '😀'; ", "utf-8"),
    "1500 terms": ("def g(a):\n    return " + " + ".join(["a"] * 1_500) + "\n", "utf-8"),
    "long chain": ("def g(a):\n    return a" + ".at[0].set(1)" * 300 + "\n", "utf-8"),
    "many branches": ("def g(a):\n    if a: pass\n" + "    elif a > 1: a = jnp.sin(a)\n" * 1_000, "utf-8"),
    "6000 lines": ("".join(f"def f{i}(x):\n    return jnp.sin(x)\n" for i in range(3_000)), "utf-8"),
}


def findings(path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Line and column of each JAX103. There is nothing else, and nothing on stderr."""
    status = main(["--select", "JAX103", "--isolated", "--output-format", "concise", str(path)])
    out, err = capsys.readouterr()
    assert (status, err) == (1, "")
    found = []
    for line in out.splitlines():
        where, code = line.removeprefix(path.as_posix()).split(" ")[:2]
        assert code == "JAX103"
        found.append(where)
    return found


@pytest.mark.parametrize("name", ODD)
def test_odd_files(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    between, encoding = ODD[name]
    path = tmp_path / "a.py"
    path.write_bytes((IMPORTS + between + "\n" + HAZARD).encode(encoding))
    line = (IMPORTS + between + "\n").count("\n") + 3
    assert findings(path, capsys) == [f":{line}:13:"]


def test_tabs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.py"
    path.write_text((IMPORTS + HAZARD).replace("    ", "\t"))
    assert findings(path, capsys) == [":5:7:"]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends(end: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.py"
    path.write_bytes((IMPORTS + HAZARD).replace("\n", end).encode())
    assert findings(path, capsys) == [":5:13:"]


def test_another_encoding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(("# coding: latin-1\n" + IMPORTS + HAZARD.replace("f =", "'é'; f =")).encode("latin-1"))
    assert findings(path, capsys) == [":6:18:"]


def test_broken_files_cost_nothing_but_themselves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = tmp_path / "good.py"
    good.write_text(IMPORTS + HAZARD)
    broken = sorted(BROKEN.glob("*.py"))
    status = main(["--select", "JAX103", "--isolated", "--output-format", "concise", str(BROKEN), str(good)])
    out, err = capsys.readouterr()
    assert status == 2
    assert f"{good.as_posix()}:5:13: JAX103" in out
    unparsed = [path for path in broken if f"{path.name}:" in err]
    assert len(err.splitlines()) == len(unparsed)
    assert {"unclosed.py", "python_2.py", "fstring.py"} <= {path.name for path in unparsed}
    if sys.version_info < (3, 12):
        assert unparsed == broken


def test_one_file_gives_what_the_whole_gives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "steps.py").write_text(IMPORTS + "@jax.jit\ndef step(x):\n    return x + 1\n")
    path = tmp_path / "train.py"
    path.write_text(IMPORTS + HAZARD + "from steps import step\nstep(1)\n")
    assert findings(path, capsys) == [":5:13:"]
    main(["--select", "JAX103", "--output-format", "concise", str(tmp_path)])
    assert capsys.readouterr().out.count("JAX103") == 1


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_flake8_runs_it(jobs: str, tmp_path: Path) -> None:
    pytest.importorskip("flake8")
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(IMPORTS + HAZARD + HAZARD.replace("i)\n", "i)  # noqa: JAX103\n"))
    (tmp_path / "c.py").write_text("x = 1\n")
    done = subprocess.run(
        [sys.executable, "-m", "flake8", "--isolated", "--select=JAX103", f"-j{jobs}", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert [line.split(" ")[:2] for line in sorted(done.stdout.splitlines())] == [
        [f".{os.sep}a.py:5:13:", "JAX103"],
        [f".{os.sep}b.py:5:13:", "JAX103"],
    ]
    assert done.stderr == ""


def test_flake8_on_standard_input(tmp_path: Path) -> None:
    pytest.importorskip("flake8")
    done = subprocess.run(
        [sys.executable, "-m", "flake8", "--isolated", "--select=JAX103", "-"],
        cwd=tmp_path,
        input=IMPORTS + HAZARD,
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("stdin:5:13: JAX103 ")


def test_a_clean_file_starts_light(tmp_path: Path) -> None:
    """What costs as much as the run itself is not imported for a file without findings."""
    path = tmp_path / "a.py"
    path.write_text(IMPORTS + "@jax.jit\ndef f(x):\n    return jnp.sin(x)\nprint(f(jnp.ones(3)))\n")
    program = "import sys; from jaxlint.cli import main; main(sys.argv[1:]); print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program, "--isolated", str(path)], capture_output=True, text=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    heavy = {
        "libcst",
        "astroid",
        "rich",
        "pathspec",
        "jax",
        "importlib.metadata",
        "asyncio",
        "multiprocessing",
    }
    assert "jaxlint.check" in loaded
    assert loaded.isdisjoint(heavy | {"tomllib", "difflib", "jaxlint.project.comments"})


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("environment", [{}, {"JAXLINT_TRACEBACK": "1"}])
def test_a_full_disk_is_one_line(tmp_path: Path, environment: dict[str, str]) -> None:
    path = tmp_path / "a.py"
    path.write_text(IMPORTS)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "jaxlint", "--isolated", "--no-cache", str(path)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
    assert done.returncode == 2
    assert done.stderr == "jaxlint: cannot write: No space left on device\n"
