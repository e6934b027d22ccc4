"""JAX504 lets numpy make a value only where the file does with it what it can do with one of numpy's."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace_suggestions import suggestion

from jaxlint.finding import Applicability

SERVES = [
    ("A = jnp.array([0.1, 0.2])", "return jnp.dot(A, x)"),
    ("A = jnp.eye(3)", "return jnp.matmul(A, x) / A.shape[0]"),
    ("A = 2.0 * jnp.linspace(0.0, 1.0, 5)\nB = jnp.exp(A)", "return jnp.interp(x, A, B)"),
    ("A = jnp.array([1, 2], dtype=jnp.int32)", "return jnp.take(x, A)"),
]
DOES_NOT = [
    ("A = jnp.eye(3)", "return A.at[0, 0].set(x)"),
    ("A = jnp.eye(3)", "return A.sum().devices()"),
    ("A = jnp.eye(3)", "return A[x]"),
    ("A = jnp.eye(3)", "return A"),
    ("A = jnp.eye(3)", "return A * x"),  # numpy's, where `x` is a number
    ("A = jnp.eye(3)", "return jax.tree.map(lambda a: a.at[0], A)"),
    ("A = jnp.asarray(1e-3)", "return jnp.multiply(x, A)"),  # weak
    ("A = jnp.array(3)", "return jnp.multiply(x, A)"),
    ("A = jnp.full(3, 0.5)", "return jnp.multiply(x, A)"),
    ("A = jnp.sqrt(2.0)", "return jnp.multiply(x, A)"),
    ("A = jnp.array([1, 2, 3]) * 0.5", "return jnp.multiply(x, A)"),
    ("A = jnp.ones(3, int) * 0.5", "return jnp.multiply(x, A)"),
    ("A = jnp.empty(3)", "return jnp.multiply(x, A)"),
]


def kind(values: str, body: str, root: Path) -> Applicability:
    fix = suggestion("JAX504", f"{values}\n\n\ndef f(x):\n    {body}\n", root)
    assert fix is not None
    return fix.applicability


@pytest.mark.parametrize(("values", "body"), SERVES)
def test_numpy_serves(values: str, body: str, tmp_path: Path) -> None:
    assert kind(values, body, tmp_path) is Applicability.UNSAFE


@pytest.mark.parametrize(("values", "body"), DOES_NOT)
def test_numpy_does_not(values: str, body: str, tmp_path: Path) -> None:
    assert kind(values, body, tmp_path) is Applicability.DISPLAY


def test_a_default_argument_is_shown(tmp_path: Path) -> None:
    fix = suggestion("JAX504", "def f(x, a=jnp.eye(3)):\n    return jnp.dot(a, x)\n", tmp_path)
    assert fix is not None and fix.applicability is Applicability.DISPLAY
