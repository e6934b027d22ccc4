"""JAX301 only shows its fix where a function hands out what the module, or a cache, goes on holding."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace_suggestions import suggestion

from jaxlint.finding import Applicability

PROGRAM = """\
import functools


@jax.jit
def step(t):
    return t + 1


ZERO = jnp.zeros((600, 600))
STATES = {{"first": ZERO}}


{start}


def run():
    t = start()
    for _ in range(3):
        t = step(t)
    return t.sum()


print(run())
print(run())
"""
LENT = [
    "def start():\n    return ZERO",
    "def start():\n    first = ZERO\n    return first",
    "def start():\n    return jnp.asarray(ZERO)",
    'def start():\n    return STATES["first"]',
    "def start():\n    global ZERO\n    ZERO = jnp.ones((600, 600))\n    return ZERO",
    "@functools.cache\ndef start():\n    return jnp.zeros((600, 600))",
    "def zero():\n    return ZERO\n\n\ndef start():\n    return zero()",
]
MADE = [
    "def start():\n    return jnp.zeros((600, 600))",
    "def start():\n    first: jax.Array = jnp.zeros((600, 600))\n    return first",
    "def start():\n    return ZERO + 1",
    "def start():\n    for i in range(3):\n        first = jnp.full((600, 600), i)\n    return first",
    "def zero():\n    return jnp.zeros((600, 600))\n\n\ndef start():\n    return zero()",
]


@pytest.mark.parametrize("start", LENT + MADE)
def test_what_a_function_hands_out(start: str, tmp_path: Path) -> None:
    fix = suggestion("JAX301", PROGRAM.format(start=start), tmp_path)
    assert fix is not None
    assert fix.applicability is (Applicability.DISPLAY if start in LENT else Applicability.UNSAFE)
