"""JAX103 moves a jit only where what the function reads is seen to stay the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace_suggestions import suggestion

from jaxlint.finding import Applicability

PROGRAM = """\
state = {{"n": 0}}


def tick():
    state["n"] += 1


def bump(settings):
    settings["s"] *= 2


def rate():
    return state["n"] * 1.0


def double(y):
    return 2 * y


class Box:
    def __init__(self):
        self.s = 1.0

    def grow(self):
        self.s *= 2


def run(xs, k):
    settings, box, steps = {{"s": 1.0}}, Box(), iter(range(100))
    same = box
    n, out = 0, []

    def inc():
        nonlocal n
        n += 1

    for x in xs:
        {before}
        out.append(jax.jit(lambda y: {body})(x))
    return out


run([jnp.ones(3), jnp.zeros(3)], 2)
"""
STAYS = [("pass", "y * 2"), ("pass", "y * k"), ("tick()", "double(y)"), ("print(x.sum())", "jnp.sum(y) * k")]
CHANGES = [
    ("tick()", "y + state['n']"),
    ("tick()", "y + rate()"),
    ("bump(settings)", "y * settings['s']"),
    ("same.grow()", "y * box.s"),
    ("z = same.grow()", "y * box.s"),
    ("same.s = 2", "y * box.s"),
    ("inc()", "y + n"),
    ("pass", "y + next(steps)"),
    ("pass", "y + np.random.normal()"),
    ("pass", "y + box.draw()"),
]


@pytest.mark.parametrize(("before", "body"), STAYS)
def test_moves_out_of_the_loop(before: str, body: str, tmp_path: Path) -> None:
    fix = suggestion("JAX103", PROGRAM.format(before=before, body=body), tmp_path)
    assert fix is not None and fix.applicability is Applicability.UNSAFE


@pytest.mark.parametrize(("before", "body"), CHANGES)
def test_stays_where_what_it_reads_may_change(before: str, body: str, tmp_path: Path) -> None:
    fix = suggestion("JAX103", PROGRAM.format(before=before, body=body), tmp_path)
    assert fix is None or fix.applicability is Applicability.DISPLAY


@pytest.mark.parametrize(("body", "kind"), [("y + state['n']", "display"), ("y * 2", "unsafe")])
def test_out_of_a_function(body: str, kind: str, tmp_path: Path) -> None:
    program = f"""\
state = {{"n": 0}}


def apply(x):
    state["n"] += 1
    return jax.jit(lambda y: {body})(x)


for i in range(3):
    apply(jnp.ones(3))
"""
    fix = suggestion("JAX103", program, tmp_path)
    assert fix is not None and fix.applicability.name.lower() == kind
