"""A Python number is made an array only where an array of 32 bits gives the same result."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace_suggestions import suggestion

from jaxlint.finding import Applicability

PASSED = """\
import equinox as eqx


@eqx.filter_jit
def f(x, n):
    {body}


x = jnp.ones(3)
for i in range(1, 5):
    x = f(x, {given})
"""
STATIC = """\
import functools


@functools.partial(jax.jit, static_argnames="n")
def f(x, n):
    {body}


x = jnp.ones(3)
for i in range(1, 5):
    x = f(x, n={given})
"""
SAME = [
    ("return x * n", "i"),
    ("return x / n + n // 2", "i"),
    ("return x * n**2", "i * 3"),
    ("return x * 0.5**n", "i"),
    ("half = n / 2\n    return x * half", "0.1 * 0.9**i"),
]
OTHER = [
    ("return x * n, n", "i"),  # a Python number comes back, which may be a key or a size
    ("return x * n, n + 1", "i"),
    ("return {'x': x * n, 'n': [-n]}", "i"),
    ("m = n // 2\n    return x * n, m", "i"),
    ("return x * n**-1", "i"),  # jax refuses
    ("return x * n ** -(1 + 1)", "i"),
    ("return x * 10**-n", "i"),  # 0
    ("return x * 2**n", "i"),
    ("return x * (1 << n)", "i"),
    ("return x * (n * 1_000_000)", "i"),
    ("m = n + 1\n    return x * m**-1", "i"),
    ("return x + n % 1000", "i * 1_700_000_000_000"),
    ("return x + n % 1000", "time.time_ns() + i"),
]


@pytest.mark.parametrize(("body", "given"), SAME)
def test_fix_of_arithmetic_that_comes_out_the_same(body: str, given: str, tmp_path: Path) -> None:
    fix = suggestion("JAX101", PASSED.format(body=body, given=given), tmp_path)
    assert fix is not None and fix.applicability is Applicability.UNSAFE


@pytest.mark.parametrize(("body", "given"), OTHER)
def test_no_fix_of_arithmetic_that_does_not(body: str, given: str, tmp_path: Path) -> None:
    fix = suggestion("JAX101", "import time\n" + PASSED.format(body=body, given=given), tmp_path)
    assert fix is None or fix.applicability is Applicability.DISPLAY
    fix = suggestion("JAX102", "import time\n" + STATIC.format(body=body, given=given), tmp_path)
    assert fix is None or fix.applicability is Applicability.DISPLAY


def test_no_fix_of_a_name_of_a_large_number(tmp_path: Path) -> None:
    program = PASSED.format(body="return x + n % 1000", given="stamp").replace(
        "    x = f", "    stamp = i * 1_700_000_000_000\n    x = f"
    )
    fix = suggestion("JAX101", program, tmp_path)
    assert fix is not None and fix.applicability is Applicability.DISPLAY


def test_what_is_made_of_a_number_needs_it_too(tmp_path: Path) -> None:
    body = "last = n - 1\n    return x if last > 2 else -x"
    assert suggestion("JAX101", PASSED.format(body=body, given="i"), tmp_path) is None
