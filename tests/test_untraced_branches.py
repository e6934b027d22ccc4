"""JAX206 is silent where numpy gets no tracer: what `in_axes` leaves alone, and code that asks for types."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint import registry
from jaxlint.check import check
from jaxlint.project.files import SourceFile
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings

HEADER = """\
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


"""
GUARDED = (
    HEADER
    + """\
def is_host(x):
    return type(x) is np.ndarray


def is_traced(x):
    return isinstance(x, jax.core.Tracer)


def helper(x):
    {body}


@jax.jit
def traced(x):
    return helper(x + 1)
"""
)
MAPPED = (
    HEADER
    + """\
class Clock(eqx.Module):
    w: jax.Array
    offset: np.ndarray


@{mapped}
def f(x, t):
    return {value}


print(f({given}))
"""
)
SILENT = [
    "return np.sort(x) if isinstance(x, np.ndarray) else jnp.sort(x)",
    "if not isinstance(x, np.ndarray):\n        return jnp.sort(x)\n    return np.sort(x)",
    "if isinstance(x, jax.Array):\n        return jnp.sort(x)\n    return np.sort(x)",
    "if is_host(x):\n        return np.sort(x)\n    return jnp.sort(x)",
    "if not is_traced(x):\n        return np.sort(x)\n    return jnp.sort(x)",
    "host = isinstance(x, np.ndarray)\n    return np.sort(x) if host else jnp.sort(x)",
    "host = not isinstance(x, jax.core.Tracer)\n    if host:\n        return np.sort(x)\n    return jnp.sort(x)",
    "host = jax.core.is_concrete(x)\n    return np.sort(x) if host else jnp.sort(x)",
    "if type(x) is np.ndarray:\n        return np.sort(x)\n    return jnp.sort(x)",
    "if type(x) is not np.ndarray:\n        return jnp.sort(x)\n    return np.sort(x)",
    "if type(x) in (np.ndarray, list):\n        return np.sort(x)\n    return jnp.sort(x)",
    "if x.__class__ == np.ndarray:\n        return np.sort(x)\n    return jnp.sort(x)",
    "match x:\n        case np.ndarray():\n            return np.sort(x)\n    return jnp.sort(x)",
    "match x:\n        case np.ndarray() | list():\n            return np.sort(x)\n    return jnp.sort(x)",
    "match x:\n        case jax.Array():\n            return jnp.sort(x)\n    return np.sort(x)",
    "match type(x):\n        case np.ndarray:\n            return np.sort(x)\n    return jnp.sort(x)",
]
FOUND = [
    "return np.sort(x)",
    "if isinstance(x, (int, float)):\n        x = jnp.asarray(x)\n    return np.sort(x)",
    "match x.dtype:\n        case np.float32:\n            x = x + 1\n    return np.sort(x)",
    "flag = len(str(x.dtype)) > 3\n    if flag:\n        x = x + 1\n    return np.sort(x)",
]
ALONE = [
    (
        'partial(jax.vmap, in_axes=(0, {"a": None, "b": 0}))',
        't["b"] + np.sort(t["a"])[0]',
        'X, {"a": T, "b": X}',
    ),
    (
        'partial(jax.vmap, in_axes=({"a": None, "b": 0}, None))',
        "x['b'] + np.sort(x['a'])[0]",
        '{"a": T, "b": X}, 1',
    ),
    ("partial(jax.vmap, in_axes=(0, (0, (None, 0))))", "x + np.sort(t[1][0])[0]", "X, (X, (T, X))"),
    ("partial(jax.vmap, in_axes=(0, {'a': None}))", "x + np.sort(t['a'])[0]", "X, {'a': T}"),
    ("eqx.filter_vmap(in_axes=(0, None))", "x + np.sort(t.offset)[0]", "X, Clock(X, T)"),
]
TRACED = [
    (
        'partial(jax.vmap, in_axes=(0, {"a": None, "b": 0}))',
        't["a"] + np.sort(t["b"])[0]',
        'X, {"a": T, "b": X}',
    ),
    ("partial(jax.vmap, in_axes=(0, (0, (None, 0))))", "x + np.sort(t[1][1])[0]", "X, (X, (T, X))"),
    ("partial(jax.vmap, in_axes=(0, {'a': 0}))", "x + np.sort(t['a'])[0]", "X, {'a': T}"),
    ("eqx.filter_vmap(in_axes=(None, 0))", "x + np.sort(t.offset)[0]", "X, Clock(X, T)"),
]


def count(source: str, root: Path) -> int:
    """How often JAX206 is found."""
    (root / "main.py").write_text(source, encoding="utf-8")
    files = [SourceFile("main.py", str(root / "main.py"), None)]
    rules = [rule for rule in registry.load() if rule.meta.code == "JAX206"]
    project = Project(str(root), Settings())
    found = check(files, project, Settings(), rules, jobs=1, cache=False)
    assert all(finding.code == "JAX206" for finding in found)
    return len(found)


def mapped(case: tuple[str, str, str]) -> str:
    decorator, value, given = case
    arrays = "X, T = jnp.ones((2, 3)), np.ones((2, 3))\n\n\n"
    return MAPPED.format(mapped=decorator, value=value, given=given).replace(
        "class Clock", f"{arrays}class Clock"
    )


@pytest.mark.parametrize("body", SILENT)
def test_silent_where_the_code_asks_for_types(body: str, tmp_path: Path) -> None:
    assert count(GUARDED.format(body=body), tmp_path) == 0


@pytest.mark.parametrize("body", FOUND)
def test_found_where_the_test_says_nothing_of_it(body: str, tmp_path: Path) -> None:
    assert count(GUARDED.format(body=body), tmp_path) == 1


@pytest.mark.parametrize("case", ALONE)
def test_silent_where_the_argument_is_not_mapped(case: tuple[str, str, str], tmp_path: Path) -> None:
    assert count(mapped(case), tmp_path) == 0


@pytest.mark.parametrize("case", TRACED)
def test_found_where_it_is(case: tuple[str, str, str], tmp_path: Path) -> None:
    assert count(mapped(case), tmp_path) == 1
