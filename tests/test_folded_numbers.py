"""Numbers that are worked out of numbers in view are known: how often a loop under jit runs shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint import registry
from jaxlint.check import check
from jaxlint.project.files import discover
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings

PROGRAM = """\
import math

import jax
import jax.numpy as jnp


class Plan:
    span = 6.4
    dt = 0.2
    rounds = None
    least = 20


def counted(n):
    for i in range(n):
        yield i


def picked(n):
    for i in range(n):
        if i % 7 == 0:
            yield i


@jax.jit
def run(x, extra=4):
    plan = Plan()
    for k in {over}:
        x = x - 0.1 * jnp.sin(x + k)
    return x


print(run(jnp.ones(3)))
"""


@pytest.mark.parametrize(
    ("over", "rounds"),
    [
        ("range(int(plan.span / plan.dt))", "32"),
        ("range(math.ceil(6.3 / 0.2))", "32"),
        ("range(round(31.6))", "32"),
        ("range(2**5)", "32"),
        ("range(plan.rounds or plan.least)", "20"),
        ("range(max(plan.least, 3) + extra % 3)", "21"),
        ("counted(4 * extra)", "16"),
        ("range(min(plan.least, extra))", None),
        ("picked(40)", None),
        ("range(plan.least // 0)", None),
        ("range(math.isqrt(-1))", None),
    ],
)
def test_the_number_of_rounds_is_worked_out(tmp_path: Path, over: str, rounds: str | None) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.replace("{over}", over))
    project = Project("", Settings(), [str(tmp_path)])
    files = discover([str(tmp_path)], project).files
    found = check(files, project, Settings(), registry.load(), jobs=1, cache=False)
    told = [f.message for f in found if f.code == "JAX309"]
    assert len(told) == (rounds is not None)
    assert all(f"its {rounds} rounds" in message for message in told)
