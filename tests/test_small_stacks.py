"""JAX303 is a warning, unless what is stacked is proven small: a number a step, or under 1 MiB in all."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint import registry
from jaxlint.check import check
from jaxlint.finding import Severity
from jaxlint.project.files import discover
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings

_IMPORTS = """\
import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax


def loss(w, x):
    return jnp.mean((x @ w) ** 2)


"""
_A_METHOD = """\
@jax.jit
def run(w, xs):
    _, out = lax.scan(lambda c, x: (c + x, {stacked}), w, xs)
    return out.mean(0)
"""
_VALUE_AND_GRAD = """\
@jax.jit
def run(w, xs):
    def step(w, x):
        value, grads = {of}(w, x)
        return w - grads, value

    w, out = lax.scan(step, w, xs)
    return w, out[-1]
"""
_MAP = """\
@jax.jit
def run(w, xs):
    return lax.map(lambda x: {stacked}, xs).sum()
"""
_MAPPED = """\
def score(w, xs):
    _, out = lax.scan(lambda c, x: (c + x, jnp.sum(c * x)), w, xs)
    return out.sum()


@jax.jit
def run(ws, xs):
    return {call}
"""
_MANY = """\
@jax.jit
def run(w):
    _, out = lax.scan(lambda c, _: (c, jnp.sum(c)), w, None, length={length})
    return out.mean()
"""


def severities(program: str, tmp_path: Path) -> set[Severity]:
    (tmp_path / "program.py").write_text(_IMPORTS + program)
    rules = [rule for rule in registry.load() if rule.meta.code == "JAX303"]
    project = Project("", Settings(), [str(tmp_path)])
    files = discover([str(tmp_path)], project).files
    found = check(files, project, Settings(), rules, jobs=1, cache=False)
    return {finding.severity for finding in found}


@pytest.mark.parametrize(
    "program",
    [
        _A_METHOD.format(stacked="jnp.sum(c * x)"),
        _A_METHOD.format(stacked="-loss(c, x)"),
        _A_METHOD.format(stacked="(c * x).sum() + 1.0"),
        _A_METHOD.format(stacked="{'loss': loss(c, x), 'norm': jnp.linalg.norm(c)}").replace(
            "out.mean(0)", "jax.tree.map(lambda v: v.mean(0), out)"
        ),
        _VALUE_AND_GRAD.format(of="jax.value_and_grad(loss)"),
        _VALUE_AND_GRAD.format(of="eqx.filter_value_and_grad(loss)"),
        _MAP.format(stacked="loss(w, x)"),
        _MAPPED.format(call="score(ws, xs)"),
        _MANY.format(length=1000),
    ],
)
def test_numbers_are_information(program: str, tmp_path: Path) -> None:
    assert severities(program, tmp_path) == {Severity.INFO}


@pytest.mark.parametrize(
    "program",
    [
        _A_METHOD.format(stacked="c * x"),
        _A_METHOD.format(stacked="jnp.sum(c * x, axis=0)"),
        _A_METHOD.format(stacked="(loss(c, x), c)").replace(
            "out.mean(0)", "jax.tree.map(lambda v: v.mean(0), out)"
        ),
        _VALUE_AND_GRAD.format(of="jax.vmap(jax.value_and_grad(loss))"),
        _MAP.format(stacked="w * x"),
        _MAPPED.format(call="jax.vmap(score, in_axes=(0, None))(ws, xs).sum()"),
        _MAPPED.format(call="jax.vmap(lambda w: score(w, xs))(ws).sum()"),
        _MAPPED.format(call="jax.jacfwd(score)(ws, xs)"),
        _MAPPED.format(call="lax.map(lambda w: score(w, xs), ws, batch_size=64)"),
        _MANY.format(length=1 << 20),
    ],
)
def test_what_may_be_more_is_a_warning(program: str, tmp_path: Path) -> None:
    assert Severity.WARNING in severities(program, tmp_path)
