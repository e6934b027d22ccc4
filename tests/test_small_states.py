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

import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax import nnx
from flax.training.train_state import TrainState


@jax.jit
def step(state, i):
    return state + i


@eqx.filter_jit
def filter_step(state, i):
    return jax.tree.map(lambda leaf: leaf + i, state)


@jax.jit
def pair_step(params, state, i):
    return jax.tree.map(lambda leaf: leaf + i, (params, state))


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
_ROWS = """\
class Centroids(eqx.Module):
    points: jax.Array


def main():
    state = Centroids(jnp.array([[1.0, 0.0], [0.0, 1.0], {row}]))
    for i in range(10):
        state = filter_step(state, i)


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

_TWO_STATES = """\
def train(state):
    for i in range(10):
        state = step(state, i)
    return state


print(train(jnp.zeros(3)), train(jnp.zeros({size})))
"""
_A_LAYER = """\
class Pair(eqx.Module):
    one: eqx.nn.Linear
    other: eqx.nn.Linear


def main(key):
    state = Pair(eqx.nn.Linear(2, {size}, key=key), eqx.nn.Linear({size}, 1, key=key))
    for i in range(10):
        state = filter_step(state, i)


main(jax.random.key(0))
"""
_A_MODEL = """\
class Net(eqx.Module):
    inner: eqx.nn.MLP
    drop: eqx.nn.Dropout
    scale: jax.Array

    def __init__(self, width, key):
        self.inner = eqx.nn.MLP(2, "scalar", width, 2, activation=jax.nn.relu, key=key)
        self.drop = eqx.nn.Dropout(0.1)
        self.scale = jnp.ones(())


class Trainer:
    def __init__(self, key):
        self.model = Net({size}, key)

    def run(self):
        for i in range(10):
            self.model = filter_step(self.model, i)


Trainer(jax.random.key(0)).run()
"""
_AN_OPTIMIZER = """\
class Trainer:
    def __init__(self, key):
        self.tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
        self.model = eqx.nn.Linear(4, {size}, key=key)

    def run(self):
        state = self.tx.init(eqx.filter(self.model, eqx.is_array))
        for i in range(10):
            state = step(state, i)


Trainer(jax.random.key(0)).run()
"""
_A_TRAIN_STATE = """\
def main():
    params = {{"w": jnp.zeros(({size}, 2))}}
    state = TrainState.create(apply_fn=jnp.dot, params=params, tx=optax.sgd(0.1, momentum=0.9))
    for i in range(10):
        state = step(state, i)


main()
"""
_CHOSEN = """\
def main(wide, key):
    if wide:
        state = eqx.nn.Linear({size}, {size}, key=key)
    else:
        state = eqx.nn.Linear(2, 2, key=key)
    for i in range(10):
        state = filter_step(state, i)


main(len(jax.devices()) > 1, jax.random.key(0))
"""
_REPLACED_PART = """\
def main(key):
    state = eqx.nn.Linear(2, 2, key=key)
    state = eqx.tree_at(lambda m: m.weight, state, {part})
    for i in range(10):
        state = filter_step(state, i)


main(jax.random.key(0))
"""
_MAPPED = """\
def main(key):
    state = eqx.filter_vmap(lambda k: eqx.nn.Linear(2, 2, key=k))(jax.random.split(key, 1 << 20))
    for i in range(10):
        state = filter_step(state, i)


main(jax.random.key(0))
"""
_LINEN = """\
class Net(nn.Module):
    width: int = 8

    @nn.compact
    def __call__(self, x, train=False):
        x = nn.LayerNorm()(nn.relu(nn.Dense(self.width, use_bias=False)(x)))
        return nn.Dense({size})(jnp.concatenate([x, x], axis=-1)).mean(-1)


net = Net(width=16)
tx = optax.adam(1e-3)


def main(key):
    params = net.init(key, jnp.ones((2, 4)))
    state = jax.device_put(tx.init(params))
    for i in range(10):
        params, state = pair_step(params, state, i)


main(jax.random.key(0))
"""
_HAIKU = """\
net = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([16, {size}])(x)[..., 0]))


def main(key):
    params = jax.jit(net.init)(key, jnp.ones((32, 5)))
    mean = jax.tree.map(jnp.zeros_like, params)
    for i in range(10):
        params, mean = pair_step(params, mean, i)


main(jax.random.key(0))
"""
_FROM_THE_INPUT = """\
net = hk.transform(lambda x: hk.Linear(4)(x))


def main(key):
    state = net.init(key, jnp.ones((1, {size})))
    for i in range(10):
        state = step(state, i)


main(jax.random.key(0))
"""
_IN_PLACE = """\
class Net(nnx.Module):
    def __init__(self, width, rngs):
        self.hidden = nnx.Linear(8, width, kernel_init=nnx.initializers.normal(0.02), rngs=rngs)
        self.drop = nnx.Dropout(0.1, rngs=rngs)
        self.out = nnx.Conv(width, 1, kernel_size=(3, 3), rngs=rngs)

    def __call__(self, x):
        return self.out(self.drop(self.hidden(x)))


@nnx.jit
def fit(model, optimizer, x):
    loss, grads = nnx.value_and_grad(lambda model: model(x).mean())(model)
    optimizer.update(model, grads)
    return loss


def main():
    model = Net({size}, nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    for _ in range(10):
        fit(model, optimizer, jnp.ones((4, 8, 8)))


main()
"""
_SPLIT = """\
class Trainer:
    def __init__(self, width):
        model = nnx.Linear(8, width, rngs=nnx.Rngs(0))
        self.graph, self.state = nnx.split((model, nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)))

    def train(self):
        for i in range(10):
            self.state = step(self.state, i)


Trainer({size}).train()
"""
_MODEL = """\
TABLE = jnp.ones(1 << 22)


class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        {before}
        return nn.Dense(2)({used})


def main(key, x):
    state = {init}
    for i in range(10):
        state = step(state, i)


main(jax.random.key(0), jax.random.normal(jax.random.key(1), (2, 4)))
"""


@pytest.mark.parametrize(
    "program",
    [
        *(
            _THROUGH_A_PARAMETER,
            _BY_A_DEFAULT,
            _SCALED,
            _DRAWN,
            _A_TREE,
            _A_DATA_CLASS,
            _TWO_STATES,
            _A_LAYER,
        ),
        *(
            _A_MODEL,
            _AN_OPTIMIZER,
            _A_TRAIN_STATE,
            _CHOSEN,
            _LINEN,
            _HAIKU,
            _FROM_THE_INPUT,
            _IN_PLACE,
            _SPLIT,
        ),
    ],
)
@pytest.mark.parametrize(("size", "severity"), [(32, Severity.INFO), (1 << 24, Severity.WARNING)])
def test_severity(program: str, size: int, severity: Severity, tmp_path: Path) -> None:
    assert severities(program.format(size=size), tmp_path) == {severity}


def test_rows_that_are_written_out_are_counted(tmp_path: Path) -> None:
    assert severities(_ROWS.format(row="[0.5, 0.5]"), tmp_path) == {Severity.INFO}
    assert severities(_ROWS.format(row="*rows()"), tmp_path) == {Severity.WARNING}


def test_size_of_an_optimizers_state_counts(tmp_path: Path) -> None:
    """Adam keeps two trees: 50,000 rows of the layer have less than 1 MiB, what Adam keeps has more."""
    assert severities(_A_LAYER.format(size=50_000), tmp_path) == {Severity.INFO}
    assert severities(_AN_OPTIMIZER.format(size=20_000), tmp_path) == {Severity.INFO}
    assert severities(_AN_OPTIMIZER.format(size=50_000), tmp_path) == {Severity.WARNING}


@pytest.mark.parametrize("program", [_REPLACED_PART.format(part="jnp.zeros((1 << 20, 2))"), _MAPPED])
def test_what_is_no_longer_as_made_is_a_warning(program: str, tmp_path: Path) -> None:
    assert severities(program, tmp_path) == {Severity.WARNING}


_ONCE = "Block().init(key, x)"


@pytest.mark.parametrize(
    ("before", "used", "init", "severity"),
    [
        ("y = jnp.tanh(x)", "y", _ONCE, Severity.INFO),
        ("pass", "jnp.tile(x, 1 << 20)", _ONCE, Severity.WARNING),  # wider than anything in view
        ("pass", "x.reshape(1, -1)", _ONCE, Severity.WARNING),
        ("pass", "TABLE * x[0, 0]", _ONCE, Severity.WARNING),  # an array from elsewhere
        ("x = [nn.Dense(2)(x) for _ in TABLE][0]", "x", _ONCE, Severity.WARNING),
        ("x = x * self.param('w', nn.initializers.ones, (1 << 22, 1))", "x", _ONCE, Severity.WARNING),
        (
            "pass",
            "x",
            "jax.vmap(Block().init, (0, None))(jax.random.split(key, 1 << 20), x)",
            Severity.WARNING,
        ),
    ],
)
def test_model_that_is_not_understood(
    before: str, used: str, init: str, severity: Severity, tmp_path: Path
) -> None:
    program = _MODEL.format(before=before, used=used, init=init)
    assert severities(program, tmp_path) == {severity}


def severities(program: str, tmp_path: Path) -> set[Severity]:
    (tmp_path / "program.py").write_text(_STEP + program)
    rules = [rule for rule in registry.load() if rule.meta.code == "JAX301"]
    project = Project("", Settings(), [str(tmp_path)])
    files = discover([str(tmp_path)], project).files
    found = check(files, project, Settings(), rules, jobs=1, cache=False)
    return {finding.severity for finding in found}
