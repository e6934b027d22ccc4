"""JAX301 is a warning, unless every state that calls in view pass is proven small."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint import registry
from jaxlint.check import check
from jaxlint.finding import Severity
from jaxlint.project.files import discover
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings

_STEP = """\
import dataclasses

import jax
import jax.numpy as jnp
import optax


@jax.jit
def step(state, i):
    return state + i


"""
_THROUGH_A_PARAMETER = """\
class Sampler:
    def run(self, state, n):
        for i in range(n):
            state = step(state, i)
        return state


def main():
    print(Sampler().run(jnp.zeros({size}), 10))


main()
"""
_BY_A_DEFAULT = """\
def initial(n={size}):
    return jnp.zeros(n)


def main():
    state = initial()
    for i in range(10):
        state = step(state, i)
    print(state)


main()
"""
_SCALED = """\
def main():
    state = jnp.zeros({size})
    for i in range(10):
        state = state * float(i)
        state = step(state, i)
    print(state)


main()
"""
_DRAWN = """\
def main(a):
    state = jnp.zeros(a.shape[1])
    for i in range(10):
        state = step(state, i)
    print(state)


main(jax.random.normal(jax.random.key(0), (2, {size})))
"""
_A_TREE = """\
def main():
    state = {{"w": jnp.ones(({size}, 2)), "b": jnp.zeros(2)}}
    for i in range(10):
        state = step(state, i)
    print(state)


main()
"""
_A_DATA_CLASS = """\
@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Swarm:
    place: jax.Array
    speed: jax.Array


def main():
    state = Swarm(place=jnp.ones(({size}, 2)), speed=jnp.zeros(({size}, 2)))
    for i in range(10):
        state = step(state, i)
    print(state)


main()
"""


@pytest.mark.parametrize(
    "program", [_THROUGH_A_PARAMETER, _BY_A_DEFAULT, _SCALED, _DRAWN, _A_TREE, _A_DATA_CLASS]
)
@pytest.mark.parametrize(("size", "severity"), [(32, Severity.INFO), (1 << 24, Severity.WARNING)])
def test_severity(program: str, size: int, severity: Severity, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(_STEP + program.format(size=size))
    rules = [rule for rule in registry.load() if rule.meta.code == "JAX301"]
    project = Project("", Settings(), [str(tmp_path)])
    files = discover([str(tmp_path)], project).files
    found = check(files, project, Settings(), rules, jobs=1, cache=False)
    assert {finding.severity for finding in found} == {severity}
