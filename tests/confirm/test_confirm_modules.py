"""Modules of a package: their functions get inputs, and what takes two calls is called twice."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import pytest
from checked_programs import Check, verdicts

from jaxlint.confirm.child import recorded
from jaxlint.confirm.child.recording import arguments

HEAD = """
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


"""

STATIC = """
@partial(jax.jit, static_argnames="n")
def grow(x, n):
    return jnp.tile(x, n).sum()


def fit(x, rounds):
    for n in range(rounds):
        x = x + grow(x, n)
    return x
"""

FRESH = """
def fit(x):
    return jax.jit(lambda x: x * 2)(x)


def main():
    x = jnp.ones(3)
    for _ in range(5):
        x = fit(x)
    return x
"""

WEAK = """
@jax.jit
def add(total, x):
    return total + x.sum()


def collect(batches):
    total = 0.0
    for x in batches:
        total = add(total, x)
    return total
"""

STRUCTURE = """
@jax.jit
def solve(x, aux):
    return x * 2, x if aux is None else aux + x


def run(x, steps):
    aux = None
    for _ in range(steps):
        x, aux = solve(x, aux)
    return x
"""


def settings(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def package(text: str, config: str = "") -> dict[str, str]:
    return {"pkg/__init__.py": "", "pkg/train.py": HEAD + text, "jaxlint.toml": config}


CALLED = [
    # What a function does when it is called, and what its boundary does where only that has inputs.
    ("JAX102", STATIC, '[confirm."pkg.train:fit"]', 'args = ["f32[4]", 3]', "was compiled 3 times"),
    ("JAX102", STATIC, '[confirm."pkg.train:grow"]', 'args = ["f32[4]", 3]', "n: 3 -> 4"),
    ("JAX103", FRESH, '[confirm."pkg.train:fit"]', 'args = ["f32[3]"]', "compiled twice"),
    ("JAX111", WEAK, '[confirm."pkg.train:add"]', 'args = [0.0, "f32[3]"]', "total: 0.0 -> float32[]"),
    (
        "JAX110",
        STRUCTURE,
        '[confirm."pkg.train:solve"]',
        'args = ["f32[3]", "f32[3]"]',
        "aux: a value -> None",
    ),
]


@pytest.mark.parametrize(("code", "text", "table", "args", "said"), CALLED)
def test_a_retrace_is_confirmed_by_two_calls(
    code: str, text: str, table: str, args: str, said: str, confirm: Check
) -> None:
    [verdict] = verdicts(confirm(package(text, settings(table, args))), code)
    assert (verdict["verdict"], said in verdict["reason"]) == ("confirmed", True), verdict["reason"]


def test_a_boundary_that_holds_is_not_confirmed(confirm: Check) -> None:
    """The value that the finding speaks of is traced: with other ones nothing is compiled again."""
    text = STATIC.replace('static_argnames="n"', "").replace("jnp.tile(x, n).sum()", "(x * n).sum()")
    found = confirm(package(text, settings('[confirm."pkg.train:grow"]', 'args = ["f32[4]", 3]')))
    assert verdicts(found, "JAX102") == []


METHOD = """
class Trainer:
    def __init__(self, rate, width):
        self.rate = rate
        self.weights = jnp.ones((width, 100))

    @partial(jax.jit, static_argnums=0)
    def relax(self, x):
        def step(x, _):
            x = jnp.cos(x) * self.rate + self.weights
            return x, x

        _, xs = jax.lax.scan(step, x, None, 50)
        return xs[-1]


def use():
    trainer = Trainer(0.5, 1000)
    return trainer.relax(jnp.zeros((1000, 100)))
"""

HELPER = """
def relax(x):
    def step(x, _):
        x = jnp.cos(x)
        return x, x

    _, xs = jax.lax.scan(step, x, None, 50)
    return xs[-1]


@jax.jit
def solve(y):
    return relax(y["grid"] * 2)
"""


def test_a_method_gets_its_instance_from_a_call(confirm: Check) -> None:
    [verdict] = verdicts(confirm(package(METHOD)), "JAX303")
    assert verdict["verdict"] == "confirmed", verdict["reason"]
    assert verdict["arms"][0]["argument_bytes"] == 400_000


def test_a_helper_is_judged_through_the_boundary_that_has_inputs(confirm: Check) -> None:
    config = settings('[confirm."pkg.train:solve"]', 'args = [{grid = "f32[100,1000]"}]')
    [verdict] = verdicts(confirm(package(HELPER, config)), "JAX303")
    assert verdict["verdict"] == "confirmed", verdict["reason"]
    assert verdict["arms"][0]["argument_bytes"] == 400_000


TRAIN = """
import optax
from flax.training.train_state import TrainState


def relax(x):
    def step(x, _):
        x = jnp.cos(x)
        return x, x

    _, xs = jax.lax.scan(step, x, None, 50)
    return xs[-1]


@partial(jax.jit, static_argnames="mode")
def update(state, key, batch, *, mode):
    noise = jax.random.normal(key, batch["x"].shape)
    grads = jax.grad(lambda p: relax(batch["x"] @ p["w"] + noise @ p["w"]).sum())(state.params)
    return state.apply_gradients(grads=grads)
"""

RUN = """
import jax, jax.numpy as jnp, optax
from flax.training.train_state import TrainState
from pkg import train

state = TrainState.create(apply_fn=None, params={"w": jnp.ones((64, 512))}, tx=optax.adam(1e-3))
for size in (100, 100, 60):
    state = train.update(state, jax.random.key(0), {"x": jnp.ones((size, 64))}, mode="mean")
"""


def record(directory: Path) -> str:
    """The record of the program `run.py` in a directory."""
    output = str(directory / "run.jsonl")
    command = [sys.executable, "-m", "jaxlint", "record", "-o", output, "--", sys.executable, "run.py"]
    subprocess.run(command, cwd=directory, check=True, capture_output=True, timeout=300)
    return output


def test_inputs_come_from_a_record_before_all_else(confirm: Check, tmp_path: Path) -> None:
    """A state with an optimiser in it, a typed key, a static keyword: nothing of it is written down anywhere."""
    project = tmp_path / "project"
    for name, text in {**package(TRAIN), "run.py": RUN}.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    recorded = record(project)
    (project / "run.py").unlink()
    [verdict] = verdicts(confirm({}, "--record", recorded), "JAX303")
    assert verdict["verdict"] in ("confirmed", "refuted"), verdict["reason"]
    weights, moments, batch = 64 * 512 * 4, 2 * 64 * 512 * 4, 100 * 64 * 4
    assert verdict["arms"][0]["argument_bytes"] >= weights + moments + batch


class Pair(NamedTuple):
    first: Any
    second: Any


def scaled(rate: float) -> Callable[[Any], Any]:
    def scale(x: Any, by: float = 2.0) -> Any:
        return x * rate * by

    return scale


def test_a_record_holds_what_can_be_made_again_and_names_what_cannot() -> None:
    args = (
        Pair(jax.random.split(jax.random.key(0)), {"x": jnp.ones((2, 3), jnp.bfloat16)}),
        [scaled(3.0), jax.nn.relu, Path],
        object(),
    )
    call = json.loads(json.dumps(arguments.encoded(args[:2], {"mode": "mean", "n": 3})))
    (pair, (scale, relu, path)), kwargs = recorded.inputs(call)
    assert (type(pair), pair.first.shape, str(pair.first.dtype)) == (Pair, (2,), "key<fry>")
    assert pair.second == {"x": jax.ShapeDtypeStruct((2, 3), jnp.bfloat16)}
    assert (scale(1.0), relu, path) == (6.0, jax.nn.relu, Path)
    assert kwargs == {"mode": "mean", "n": 3}
    with pytest.raises(recorded.NotHeld, match="argument 3 of the recorded call holds a <object>"):
        recorded.inputs(arguments.encoded(args, {}) or {})
