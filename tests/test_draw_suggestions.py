"""The worked suggestion of JAX203: a draw of numpy as one of jax.random."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace_suggestions import function, rewritten, suggestion

DRAWS = [
    ("np.random.normal(size=x.shape)", "jax.random.normal(key, x.shape)"),
    ("np.random.standard_normal(3)", "jax.random.normal(key, (3,))"),
    ("np.random.randn(2, 3)", "jax.random.normal(key, (2, 3))"),
    ("np.random.rand()", "jax.random.uniform(key, ())"),
    ("np.random.uniform(-1, 1, x.shape)", "jax.random.uniform(key, x.shape, minval=-1, maxval=1)"),
    ("np.random.randint(0, 4, size=x.shape)", "jax.random.randint(key, x.shape, 0, 4)"),
    ("np.random.binomial(1, 0.8, size=x.shape)", "jax.random.bernoulli(key, 0.8, x.shape)"),
]


@pytest.mark.parametrize(("before", "after"), DRAWS, ids=[before for before, _ in DRAWS])
def test_draw(before: str, after: str, tmp_path: Path) -> None:
    expected = function(f"return x + {after}").replace("f(x, y)", "f(key, x, y)")
    assert rewritten("JAX203", function(f"return x + {before}"), tmp_path) == expected


def test_key_that_is_there_is_used(tmp_path: Path) -> None:
    source = "@jax.jit\ndef f(rng_key, x):\n    return x + np.random.rand(3)\n"
    expected = source.replace("np.random.rand(3)", "jax.random.uniform(rng_key, (3,))")
    assert rewritten("JAX203", source, tmp_path) == expected


def test_key_follows_self(tmp_path: Path) -> None:
    source = """\
class Noise:
    def __init__(self):
        self.add = jax.jit(self._add)

    def _add(self):
        return np.random.normal()
"""
    expected = source.replace("def _add(self)", "def _add(self, key)")
    expected = expected.replace("np.random.normal()", "jax.random.normal(key, ())")
    assert rewritten("JAX203", source, tmp_path) == expected


@pytest.mark.parametrize("draw", ["np.random.normal(0.0, 2.0, size=3)", "np.random.poisson(2.0)"])
def test_no_suggestion_where_the_arguments_differ(draw: str, tmp_path: Path) -> None:
    assert suggestion("JAX203", function(f"return x + {draw}"), tmp_path) is None
