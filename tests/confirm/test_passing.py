"""What runs outside jit is judged by the arrays that it holds for a moment."""

from __future__ import annotations

import pytest
from checked_programs import Check, verdicts

INIT = """
import flax.linen as nn
import jax
import jax.numpy as jnp


class PairNet(nn.Module):
    @nn.compact
    def __call__(self, nodes):
        pair = nodes[:, None, :] + nodes[None, :, :]
        return nn.Dense(1)(pair).sum()


def create(key):
    model = PairNet()
    return model, model.init(key, jnp.ones(({nodes}, 16)))


model, variables = create(jax.random.key(0))
print(jax.jit(model.apply)(variables, jnp.ones((4, 16))))
"""


@pytest.mark.parametrize(("nodes", "outcome"), [(256, "confirmed"), (8, "refuted")])
def test_an_initialisation_outside_jit(nodes: int, outcome: str, confirm: Check) -> None:
    program = INIT.replace("{nodes}", str(nodes))
    [verdict] = verdicts(confirm({"program.py": program}, "--timeout", "200"), "JAX306")
    assert verdict["verdict"] == outcome, verdict["reason"]
    if outcome == "confirmed":  # the pairs at least, of which jit computes nothing
        [jitted] = verdict["arms"]
        assert jitted["temp_bytes"] + jitted["output_bytes"] < 100_000
        assert float(verdict["reason"].split(" MiB")[0]) >= 256 * 256 * 16 * 4 / (1 << 20)
