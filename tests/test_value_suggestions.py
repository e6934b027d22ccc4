"""The worked suggestions of JAX202 and JAX210: what a test clears, and what a call passes."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace_suggestions import finding, rewritten, suggestion


def test_traces_are_forgotten_before_the_call(tmp_path: Path) -> None:
    source = """\
SCALE = 1.0


@jax.jit
def f(x):
    return SCALE * x


def test_one():
    assert f(1.0) == 1.0


def test_two(monkeypatch):
    monkeypatch.setattr("example.SCALE", 2.0)
    assert f(1.0) == 2.0
"""
    expected = source.replace("    assert f(1.0) == 2.0", "    jax.clear_caches()\n    assert f(1.0) == 2.0")
    assert rewritten("JAX202", source, tmp_path) == expected


STATIC = """\
import equinox as eqx


@eqx.filter_jit
def f(x, n):
    return {body}


f(jnp.ones(2), 1)
f(jnp.ones(2), 1.0)
"""


def test_number_becomes_an_array(tmp_path: Path) -> None:
    source = STATIC.format(body="x * n")
    expected = source.replace("1.0)", "jnp.asarray(1.0))")
    assert rewritten("JAX210", source, tmp_path) == expected


def test_no_array_where_the_type_decides(tmp_path: Path) -> None:
    assert suggestion("JAX210", STATIC.format(body="x if isinstance(n, int) else -x"), tmp_path) is None


@pytest.mark.parametrize(
    ("statement", "written"),
    [
        ("y[0] = x[0]", "the traced `x[0]`"),
        ("y[1:] = 2 * x[1:]", "the traced `2 * x[1:]`"),
        ("y[0], y[1] = x[0], 1", "a traced value"),
        ("y[0] += x[0]", "a traced value"),
    ],
)
def test_what_a_numpy_array_is_written_from(statement: str, written: str, tmp_path: Path) -> None:
    source = f"@jax.jit\ndef f(x):\n    y = np.zeros(3)\n    {statement}\n    return y\n"
    assert f"is written from {written} (" in finding("JAX206", source, tmp_path).message
