"""JAX111 gives a start the default dtype only where the file speaks of no other one."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace_suggestions import suggestion

from jaxlint.finding import Applicability

PROGRAM = """\
@jax.jit
def step(t, x):
    return {step}


x = {x}
t = {start}
for i in range(4):
    t = step(t, x)
"""


def kind(step: str, x: str, start: str, root: Path) -> Applicability:
    fix = suggestion("JAX111", PROGRAM.format(step=step, x=x, start=start), root)
    assert fix is not None
    return fix.applicability


@pytest.mark.parametrize("x", ["jnp.arange(4.0)", "jnp.arange(4, dtype=jnp.float32)"])
def test_default_dtype(x: str, tmp_path: Path) -> None:
    assert kind("t + x.sum()", x, "0.0", tmp_path) is Applicability.UNSAFE


@pytest.mark.parametrize(
    ("step", "x", "start"),
    [
        ("t + x.sum()", "jnp.arange(4, dtype=jnp.bfloat16)", "0.0"),
        ("t + x.sum()", 'jnp.arange(4, dtype="float16")', "0.0"),
        ("t + (x > 0).sum(dtype=jnp.uint8)", "jnp.arange(4.0)", "250"),
        ("jnp.maximum(t, x.astype(jnp.float16).max())", "jnp.arange(4.0)", "-1e4"),
    ],
)
def test_another_dtype(step: str, x: str, start: str, tmp_path: Path) -> None:
    assert kind(step, x, start, tmp_path) is Applicability.DISPLAY
