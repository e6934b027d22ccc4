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
