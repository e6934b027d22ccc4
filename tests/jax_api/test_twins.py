"""The twins are where and what the fix of JAX206 takes them for."""

from __future__ import annotations

import inspect
import math
from functools import reduce
from types import ModuleType
from typing import Any

import pytest

from jaxlint.jax_api.twins import MATH_TWINS, NUMPY_TWINS, SHARED_KEYWORDS, TAKES_DTYPE, TAKES_SEQUENCE

jnp = pytest.importorskip("jax.numpy")
np = pytest.importorskip("numpy")


def named(module: ModuleType, dotted: str) -> Any:
    return reduce(getattr, dotted.split("."), module)


def keywords(function: object) -> set[str]:
    try:
        return set(inspect.signature(function).parameters)  # type: ignore[arg-type]  # whatever bears the name
    except (TypeError, ValueError):
        return set()


@pytest.mark.parametrize("name", sorted(NUMPY_TWINS))
def test_twin_takes_the_shared_keywords(name: str) -> None:
    here, there = named(np, name), keywords(named(jnp, name))
    allowed = SHARED_KEYWORDS | ({"dtype"} if name in TAKES_DTYPE else set())
    if not isinstance(here, np.ufunc) and "kwargs" not in there:
        assert not (keywords(here) & allowed) - there


@pytest.mark.parametrize("name", sorted(MATH_TWINS))
def test_math_twin_exists_on_both_sides(name: str) -> None:
    assert callable(getattr(math, name))
    assert callable(getattr(jnp, name))


def test_special_cases_are_twins() -> None:
    assert TAKES_SEQUENCE | TAKES_DTYPE <= NUMPY_TWINS
