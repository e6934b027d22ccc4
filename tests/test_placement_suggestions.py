"""The worked suggestions of JAX312, JAX315 and JAX403: where arrays and measurements had better live."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace_suggestions import rewritten, suggestion


def test_pmap_is_a_vmap_over_a_mesh(tmp_path: Path) -> None:
    source = "predict = jax.pmap(lambda params, x: x @ params, in_axes=(None, 0))\n"
    text = rewritten("JAX312", source, tmp_path)
    namespace: dict[str, object] = {}
    exec(f"import jax\nimport jax.numpy as jnp\n{text}", namespace)
    predict, jnp = namespace["predict"], namespace["jnp"]
    assert predict(jnp.ones((4, 2)), jnp.ones((1, 8, 4))).tolist() == [[[4.0, 4.0]] * 8]
    assert "jax.vmap(lambda params, x: x @ params, in_axes=(None, 0))" in text
    assert 'PartitionSpec()), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("devices"))' in text


@pytest.mark.parametrize("options", ["in_axes=axes", "in_axes=(None, 0), static_broadcasted_argnums=0"])
def test_no_mesh_where_the_axes_are_not_told(options: str, tmp_path: Path) -> None:
    source = f"axes = (None, 0)\npredict = jax.pmap(lambda params, x: x @ params, {options})\n"
    source += "state = predict(jnp.ones(2), jnp.ones((1, 2)))\nstate = predict(state, jnp.ones((1, 2)))\n"
    assert suggestion("JAX312", source, tmp_path) is None


PEAK = """\
def peak(size, dtype=None):
    jax.block_until_ready(jnp.ones((size, size), dtype))
    return jax.devices()[0].memory_stats()["peak_bytes_in_use"]


print(peak(1000), peak(10, {argument}))
"""


def test_each_is_measured_in_its_own_process(tmp_path: Path) -> None:
    text = rewritten("JAX315", PEAK.format(argument='dtype="int8"'), tmp_path)
    assert 'get_context("spawn").Pool(1).apply(peak, (1000,))' in text
    assert 'get_context("spawn").Pool(1).apply(peak, (10,), {"dtype": "int8"})' in text


def test_a_lambda_cannot_be_sent(tmp_path: Path) -> None:
    assert suggestion("JAX315", PEAK.format(argument="lambda: 1"), tmp_path) is None


def test_a_cache_keeps_numpy_arrays(tmp_path: Path) -> None:
    source = """\
_TABLES = {}


def table(name):
    if name not in _TABLES:
        _TABLES[name] = jnp.ones((1000, 1000))
    return _TABLES[name]


for name in ("sin", "cos"):
    table(name)
"""
    assert "_TABLES[name] = jax.device_get(jnp.ones((1000, 1000)))" in rewritten("JAX403", source, tmp_path)
