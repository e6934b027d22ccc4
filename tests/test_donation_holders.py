"""JAX301 makes its fix only where nobody else holds what would be donated; else it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace_suggestions import suggestion

from jaxlint.finding import Applicability

STEP = """\
@jax.jit
def step(params, x):
    return jax.tree.map(lambda p: p - 0.1 * x.mean(), params)


"""
ALONE = """\
def train(n):
    params = {"w": jnp.ones(1000000)}
    for i in range(n):
        params = step(params, jnp.ones(8))
    return params


train(3)
"""
HELD = {
    "an alias": """\
def train(n):
    params = {"w": jnp.ones(1000000)}
    first = params
    for i in range(n):
        params = step(params, jnp.ones(8))
    return first, params


train(3)
""",
    "a list": """\
def train(n):
    params, history = {"w": jnp.ones(1000000)}, []
    for i in range(n):
        history.append(params)
        params = step(params, jnp.ones(8))
    return history


train(3)
""",
    "a module's name": """\
params = {"w": jnp.ones(1000000)}


def train(n):
    global params
    for i in range(n):
        params = step(params, jnp.ones(8))


train(3)
""",
    "another caller of the module's name": """\
START = {"w": jnp.ones(1000000)}


def train(params, n):
    for i in range(n):
        params = step(params, jnp.ones(8))
    return params


def short():
    return train(START, 1)


def long():
    return train(START, 3)


print(short(), long())
""",
    "a default": """\
def train(n, params=jnp.ones(1000000)):
    for i in range(n):
        params = step(params, jnp.ones(8))
    return params


print(train(3), train(5))
""",
    "the caller's caller": """\
def train(params, n):
    for i in range(n):
        params = step(params, jnp.ones(8))
    return params


def run(params):
    return train(params, 3)


start = {"w": jnp.ones(1000000)}
end = run(start)
print(start, end)
""",
    "the caller's comprehension": """\
def train(params, n):
    for i in range(n):
        params = step(params, jnp.ones(8))
    return params


params = {"w": jnp.ones(1000000)}
for _ in range(2):
    params = sum(train(params, n)["w"] for n in (1, 2))
""",
    "the caller": """\
def train(params, n):
    for i in range(n):
        params = step(params, jnp.ones(8))
    return params


start = {"w": jnp.ones(1000000)}
end = train(start, 3)
print(start, end)
""",
}

SHARED = {  # what the caller goes on using, by way of which the loop gets it
    "asarray": "jnp.asarray(params)",
    "astype": "params.astype(jnp.float32)",
    "a broadcast": "jnp.broadcast_to(params, params.shape)",
    "a slice": "params[:]",
    "device_put": "jax.device_put(params)",
    "reshape": "params.reshape(params.shape)",
    "twice": "jnp.ravel(params).reshape(-1)",
    "stop_gradient": "jax.lax.stop_gradient(params)",
    "a tree of leaves as they are": "jax.tree.map(lambda a: a, params)",
    "a tree of asarray": "jax.tree.map(jnp.asarray, params)",
    "block_until_ready": "params.block_until_ready()",
    "no copy": "jnp.array(params, copy=False)",
    "a function of the file": "prepared(params)",
    "a display": '{"w": params}',
    "a dict's copy": "params.copy()",
}
NEW = {
    "a copy": "jnp.array(params)",
    "a product": "params * 1.0",
    "a tree of copies": "jax.tree.map(jnp.copy, params)",
    "a function that computes": "scaled(params)",
    "what numpy made": "jnp.asarray(np.ones(1000000))",
}
CALLED = """\
import numpy as np


def prepared(given):
    result = given.astype(jnp.float32)
    return result


def scaled(given):
    return 2.0 * prepared(given)


def train(params, n):
    state = {value}
    for i in range(n):
        state = step(state, jnp.ones(8))
    return state


def main():
    start = jnp.ones(1000000)
    print(train(start, 3), train(start, 5))


main()
"""
KEPT = {  # beside the loop's own name
    "asarray": "jnp.asarray(params)",
    "a function of the file": "same(params)",
    "an object": "Box(params)",
    "a comprehension": "[p for p in (params,)]",
    "an iterator": "iter([params])",
    "a default of a lambda": "lambda p=params: p.sum()",
    "a partial": "jax.tree_util.Partial(jnp.sum, params)",
    "a transposed one": "params.T",
}
LET_GO = {
    "its shape": "params.shape",
    "a sum": "jnp.sum(params)",
    "a number of each": "[float(p.sum()) for p in (params,)]",
    "a lambda that looks it up": "lambda: params.sum()",
}
BESIDE = """\
def same(x):
    return x


class Box:
    def __init__(self, v):
        self.v = v


def train(n):
    params = jnp.ones(1000000)
    first = {value}
    for i in range(n):
        params = step(params, jnp.ones(8))
    print(params, first)


train(3)
"""


def applicability(program: str, tmp_path: Path) -> Applicability | None:
    fix = suggestion("JAX301", STEP + program, tmp_path)
    return fix.applicability if fix is not None else None


@pytest.mark.parametrize("value", SHARED.values(), ids=SHARED)
def test_no_fix_of_what_may_be_the_callers_buffer(value: str, tmp_path: Path) -> None:
    assert applicability(CALLED.format(value=value), tmp_path) is Applicability.DISPLAY


@pytest.mark.parametrize("value", NEW.values(), ids=NEW)
def test_fix_of_what_is_made_anew(value: str, tmp_path: Path) -> None:
    assert applicability(CALLED.format(value=value), tmp_path) is Applicability.UNSAFE


@pytest.mark.parametrize("value", KEPT.values(), ids=KEPT)
def test_no_fix_of_what_is_kept_in_another_form(value: str, tmp_path: Path) -> None:
    assert applicability(BESIDE.format(value=value), tmp_path) is Applicability.DISPLAY


@pytest.mark.parametrize("value", LET_GO.values(), ids=LET_GO)
def test_fix_beside_what_was_computed_of_it(value: str, tmp_path: Path) -> None:
    assert applicability(BESIDE.format(value=value), tmp_path) is Applicability.UNSAFE


def test_a_parameter_without_a_name_is_donated_by_its_position(tmp_path: Path) -> None:
    program = (STEP + ALONE).replace("(params, x):", "(params, x, /):")
    fix = suggestion("JAX301", program, tmp_path)
    assert fix is not None and "donate_argnums=0" in fix.edits[0].text
    named = suggestion("JAX301", (STEP + ALONE).replace("(params, x):", "(params, /, x):"), tmp_path)
    assert named is not None and "donate_argnums=0" in named.edits[0].text


OBJECT = """\
class Agent:
    def __init__(self, params):
        self.params = params
{start}
    def update(self, x):
        self.params = step(self.params, x)

{method}

{made}
for i in range(3):
    agent.update(jnp.ones(8))
{end}
"""
MADE = 'agent = Agent({"w": jnp.ones(1000000)})'
NAMED = 'params = {"w": jnp.ones(1000000)}\nagent = Agent(params)'
ATTRIBUTES = {  # what __init__ does, another method, how the object is made, what follows
    "a target network": ("", "    def sync(self):\n        self.target = self.params\n", MADE, ""),
    "the best so far": ("        self.best = params\n", "", MADE, "print(agent.best)"),
    "a getter": ("", "    def weights(self):\n        return self.params\n", MADE, ""),
    "a history": (
        "        self.seen = []\n",
        "    def log(self):\n        self.seen.append(self.params)\n",
        MADE,
        "",
    ),
    "who reads it": ("", "", f"{MADE}\nfirst = agent.params", "print(first)"),
    "who made it": ("", "", NAMED, "print(params)"),
}


def of_object(start: str, method: str, made: str, end: str) -> str:
    return OBJECT.format(start=start, method=method, made=made, end=end)


def test_fix_of_what_the_object_alone_holds(tmp_path: Path) -> None:
    fix = suggestion("JAX301", STEP + of_object("", "", MADE, ""), tmp_path)
    assert fix is not None and fix.applicability is Applicability.UNSAFE


@pytest.mark.parametrize("program", ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_no_fix_of_an_attribute_that_somebody_else_holds(
    program: tuple[str, str, str, str], tmp_path: Path
) -> None:
    fix = suggestion("JAX301", STEP + of_object(*program), tmp_path)
    assert fix is not None and fix.applicability is Applicability.DISPLAY


def test_fix_of_what_the_loop_alone_holds(tmp_path: Path) -> None:
    fix = suggestion("JAX301", STEP + ALONE, tmp_path)
    assert fix is not None and fix.applicability is Applicability.UNSAFE


@pytest.mark.parametrize("program", HELD.values(), ids=HELD)
def test_no_fix_of_what_somebody_else_holds(program: str, tmp_path: Path) -> None:
    fix = suggestion("JAX301", STEP + program, tmp_path)
    assert fix is not None and fix.applicability is Applicability.DISPLAY
