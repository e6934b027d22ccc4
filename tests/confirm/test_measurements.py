"""Figures of executables are kept between runs, and hold as long as the executable is the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jaxlint.cli import main
from jaxlint.confirm import progress

SCAN = """
import jax
import jax.numpy as jnp


@jax.jit
def relax(x):
    def step(x, _):
        x = jnp.tanh(0.9 * x)
        return x, x

    _, states = jax.lax.scan(step, x, None, length=50)
    return states[-1]


relax(jnp.linspace(0.0, 1.0, 100_000))
"""


def test_what_is_known_of_an_executable_is_not_compiled_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jaxlint.toml").write_text("")
    program = tmp_path / "program.py"
    monkeypatch.chdir(tmp_path)

    def seconds() -> list[float]:
        main(["check", "--confirm", "--select", "JAX303", "--output-format", "json", "."])
        [finding] = json.loads(capsys.readouterr().out)
        return [arm["seconds"] for arm in finding["confirm"][0]["arms"]]

    program.write_text(SCAN)
    first = seconds()
    [*kept] = (
        path for path in tmp_path.glob(".jaxlint_cache/**/*.json") if "argument_bytes" in path.read_text()
    )
    assert len(kept) == len(first) == 2  # as written and as fixed
    for path in kept:
        path.write_text(json.dumps({**json.loads(path.read_text()), "seconds": 1234.0}))
    assert seconds() == [1234.0, 1234.0]
    program.write_text(SCAN.replace("0.9", "0.8"))
    assert 1234.0 not in seconds()


def test_progress_is_shown_on_a_terminal_and_nowhere_else(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def said() -> str:
        with progress.bar(2) as bar:
            bar.say("compiles for cuda:h100")
            bar.advance()
        return capsys.readouterr().err

    assert said() == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = said()
    assert "compiles for cuda:h100" in shown
    assert "1/2" in shown
