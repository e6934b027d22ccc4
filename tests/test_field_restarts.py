"""JAX111 in fields that `reset()` begins and `step()` goes on with: which of the calls meets what."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.cli import main

PROGRAM = """\
import jax
import jax.numpy as jnp
from typing import NamedTuple


class State(NamedTuple):
    x: jax.Array
    t: jax.Array


@jax.jit
def advance(state, dt):
    return State(state.x + dt, state.t + dt.sum())


class Sim:
    def __init__(self):
        self.state = {first}

    def reset(self):
        self.state = State(jnp.zeros(4, jnp.float32), 0.0)

    def harden(self):
        self.state = State(jnp.zeros(4, jnp.float32), jnp.zeros((), jnp.float32))

    def step(self, dt):
        self.state = advance(self.state, dt)
        return float(self.state.t) > 9.0


def run():
    sim = Sim()
    dt = jnp.ones(4, jnp.float32)
{calls}

run()
"""
WEAK = "State(jnp.zeros(4, jnp.float32), 0.0)"
ONCE = """\
    sim.reset()
    for _ in range(99):
        sim.step(dt)
"""
EPISODES = """\
    for _ in range(9):
        sim.reset()
        while not sim.step(dt):
            pass
        for _ in range(9):
            sim.step(dt)
"""
WHEN_DONE = """\
    sim.reset()
    for _ in range(99):
        if sim.step(dt):
            sim.reset()
"""
EACH = """\
    for _ in range(99):
        sim.reset()
        sim.step(dt)
"""
HARDENED = """\
    sim.reset()
    sim.harden()
    for _ in range(99):
        sim.step(dt)
"""
NOT_RESET = """\
    sim.harden()
    for _ in range(99):
        sim.step(dt)
    sim.reset()
"""


def lines(first: str, calls: str, root: Path, capsys: pytest.CaptureFixture[str]) -> list[int]:
    file = root / "program.py"
    file.write_text(PROGRAM.format(first=first, calls=calls))
    main(["check", "--no-cache", "--select", "JAX111", "--output-format", "concise", str(file)])
    return [int(line.split(":")[1]) for line in capsys.readouterr().out.splitlines() if "JAX111" in line]


@pytest.mark.parametrize("first", ["None", WEAK])
@pytest.mark.parametrize("calls", [ONCE, EPISODES, WHEN_DONE])
def test_rounds_that_begin_with_a_weak_start(
    first: str, calls: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lines(first, calls, tmp_path, capsys) == [21]


@pytest.mark.parametrize("first", ["None", WEAK])
@pytest.mark.parametrize("calls", [EACH, HARDENED, NOT_RESET])
def test_rounds_that_are_all_alike(
    first: str, calls: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lines(first, calls, tmp_path, capsys) == []
