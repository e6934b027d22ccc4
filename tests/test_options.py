"""Numbers of a settings object and of the command line: how often a loop under jit runs, how large a chunk is."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint import registry
from jaxlint.check import check
from jaxlint.finding import Applicability
from jaxlint.project.files import discover
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings

PROGRAM = """\
import argparse
import dataclasses

import jax
import jax.numpy as jnp


@dataclasses.dataclass
class Config:
    steps: int = 40


config = Config()
parser = argparse.ArgumentParser()
parser.add_argument("-s", "--sub-steps", type=int, default=40)
parser.add_argument("--n", dest="rounds", type=int, default=40)
parser.add_argument("--few", type=int, default=2)
parser.add_argument("--open", type=int)
parser.add_argument("--chunk", type=int, default=4096)
options = parser.parse_args()
other = options
other = make(other)


@jax.jit
def settle(x, n={default}):
    for _ in range({rounds}):
        x = x - 0.01 * jnp.sin(x)
    return x


@jax.jit
def whole(x):
    return jax.lax.map(jnp.sin, x, batch_size={chunk})


print(settle(jnp.ones(8)), whole(jnp.ones((512, 8))))
"""


def messages(path: Path, default: str = "1", rounds: str = "2", chunk: str = "8") -> dict[str, str]:
    """The messages of the findings, by code."""
    program = PROGRAM.replace("{default}", default).replace("{rounds}", rounds).replace("{chunk}", chunk)
    (path / "program.py").write_text(program)
    project = Project("", Settings(), [str(path)])
    files = discover([str(path)], project).files
    found = check(files, project, Settings(), registry.load(), jobs=1, cache=False)
    return {f.code: f.message for f in found}


@pytest.mark.parametrize("number", ["options.sub_steps", "options.rounds"])
def test_default_of_an_option(tmp_path: Path, number: str) -> None:
    assert f"the default of `{number}`" in messages(tmp_path, rounds=number)["JAX309"]


@pytest.mark.parametrize("number", ["config.steps", "options.rounds"])
def test_default_of_a_parameter(tmp_path: Path, number: str) -> None:
    assert "JAX309" in messages(tmp_path, default=number, rounds="n")


@pytest.mark.parametrize("number", ["options.few", "options.open", "options.missing", "other.rounds"])
def test_options_that_say_nothing(tmp_path: Path, number: str) -> None:
    assert "JAX309" not in messages(tmp_path, rounds=number)


def test_chunk_that_is_an_option(tmp_path: Path) -> None:
    assert "by the default of `options.chunk`" in messages(tmp_path, chunk="options.chunk")["JAX305"]
    assert "JAX305" not in messages(tmp_path, chunk="options.few")


def test_a_default_makes_no_fix_safe(tmp_path: Path) -> None:
    """With `--steps 0` there is no last entry, but there is a carry."""
    (tmp_path / "program.py").write_text(
        "import argparse\n\nimport jax\n\nparser = argparse.ArgumentParser()\n"
        'parser.add_argument("--steps", type=int, default=20)\noptions = parser.parse_args()\n\n\n'
        "def body(c, _):\n    c = c * 1.01\n    return c, c\n\n\n"
        "@jax.jit\ndef run(x):\n    _, ys = jax.lax.scan(body, x, None, length=options.steps)\n    return ys[-1]\n"
    )
    project = Project("", Settings(), [str(tmp_path)])
    files = discover([str(tmp_path)], project).files
    (found,) = check(files, project, Settings(), registry.load(), jobs=1, cache=False)
    assert found.code == "JAX303"
    assert found.fix is not None
    assert found.fix.applicability is Applicability.UNSAFE
