"""Which code in a loop runs once all the same."""

from __future__ import annotations

import ast
import textwrap

import pytest

from jaxlint.index.build import build
from jaxlint.index.once import is_remembered, runs_once

ONCE = [
    """
    state = None
    for x in xs:
        if state is None:
            state = make()
        state, loss = step(state, x)
    """,
    """
    step = None
    for x in xs:
        if step is None:
            step = make(x)
    """,
    """
    cache = {}
    for x in xs:
        if x.shape not in cache:
            cache[x.shape] = make(x)
    """,
    """
    cache = {}
    for x in xs:
        step = cache.get(x.shape)
        if step is None:
            step = cache[x.shape] = make(x)
    """,
    """
    cache = {}
    for x in xs:
        if (step := cache.get(x.shape)) is None:
            step = cache[x.shape] = make(x)
    """,
    """
    cache = {}
    for x in xs:
        try:
            step = cache[x.shape]
        except KeyError:
            step = cache[x.shape] = make(x)
    """,
    """
    ready = False
    for x in xs:
        if not ready:
            step, ready = make(x), True
    """,
    """
    step = None
    for x in xs:
        if step is not None:
            step(x)
            continue
        step = make(x)
    """,
    """
    step = None
    for x in xs:
        if step is not None:
            step(x)
        else:
            step = make(x)
    """,
    """
    step = None
    for x in xs:
        step = make(x) if step is None else step
    """,
    """
    step = None
    for x in xs:
        step = step or make(x)
    """,
    """
    for i, x in enumerate(xs):
        if i == 0:
            step = make(x)
    """,
    """
    for i in range(n):
        if i == n - 1:
            make(i)
    """,
    """
    for x in xs:
        if x > 0:
            y = make(x)
            break
    """,
    """
    for x in xs:
        for y in x:
            if y > 0:
                return make(y)
    """,
    """
    step = None
    for epoch in range(9):
        for x in xs:
            if step is None:
                step = make(x)
    """,
    """
    for x in xs:
        if self.step is None:
            self.step = make(x)
    """,
]
AGAIN = [
    """
    state = None
    for x in xs:
        if state is None:
            state = make()
        state, loss = read(x)
    """,
    "return [make(x) if n is not None else None for x in xs]",
    """
    steps = [make(x) if x is None else x for x in xs]
    """,
    """
    steps = {x: self.steps[x] or make(x) for x in xs}
    """,
    """
    for x in xs:
        make(x)
    """,
    """
    for x in xs:
        step = None
        if step is None:
            step = make(x)
    """,
    """
    for step in steps:
        if step is None:
            step = make(step)
    """,
    """
    for x in xs:
        if not quiet:
            make(x)
    """,
    """
    step = None
    for x in xs:
        if step is None or x.shape != step.shape:
            step = make(x)
    """,
    """
    step = None
    for epoch in range(9):
        step = None
        for x in xs:
            if step is None:
                step = make(x)
    """,
    """
    for epoch in range(9):
        for x in xs:
            if x > 0:
                make(x)
                break
    """,
    """
    for i, x in enumerate(xs):
        if i != 0:
            make(x)
    """,
    """
    for i, x in enumerate(xs):
        if i == x:
            make(x)
    """,
    """
    step = None
    for x in xs:
        if step is None:
            step = [make(y) for y in x]
    """,
    """
    while step is None:
        step = make(n)
        step = None
    """,
    """
    cache = {}
    for x in xs:
        if x not in cache:
            make(x)
    """,
]
REMEMBERED = [
    """
    if self.step is None:
        self.step = make()
    """,
    """
    if self.step is None:
        self.build(make())
    """,
    """
    if not hasattr(self, "step"):
        self.step = make()
    """,
    """
    if self.step is not None:
        return self.step
    self.step = make()
    """,
    """
    if key not in CACHE:
        CACHE[key] = make()
    """,
    """
    global STEP
    if STEP is None:
        STEP = make()
    """,
]
NOT_REMEMBERED = [
    """
    if mask is None:
        mask = make()
    """,
    """
    cache = {}
    if key not in cache:
        cache[key] = make()
    """,
    """
    self.step = None
    if self.step is None:
        self.step = make()
    """,
    """
    if self.training:
        make()
    """,
]


def place(body: str) -> tuple[ast.FunctionDef, ast.Call]:
    """A method of that body, and the call of `make` in it."""
    function = f"def f(self, xs, n, mask, quiet=False):\n{textwrap.indent(textwrap.dedent(body), '    ')}"
    scope = ast.parse(function).body[0]
    assert isinstance(scope, ast.FunctionDef)
    calls = (node for node in ast.walk(scope) if isinstance(node, ast.Call))
    return scope, next(c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "make")


@pytest.mark.parametrize("body", ONCE)
def test_once(body: str) -> None:
    assert runs_once(*place(body))


@pytest.mark.parametrize("body", [*AGAIN, *REMEMBERED])
def test_again_or_in_no_loop(body: str) -> None:
    assert not runs_once(*place(body))


@pytest.mark.parametrize("body", REMEMBERED)
def test_remembered(body: str) -> None:
    assert is_remembered(*place(body))


@pytest.mark.parametrize("body", NOT_REMEMBERED)
def test_not_remembered(body: str) -> None:
    assert not is_remembered(*place(body))


@pytest.mark.parametrize("body", [*ONCE, *AGAIN])
def test_the_index_counts_no_loop_around_what_runs_once(body: str) -> None:
    scope, _ = place(body)
    record = build(ast.Module([scope], []), "module", False, True)
    (site,) = record.calls["make"]
    assert bool(site.loop) == (body in AGAIN)
