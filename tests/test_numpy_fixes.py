"""The fixes of JAX206 and JAX211 are safe where they hold whoever calls the function, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace_suggestions import HEADER, suggestion

from jaxlint import registry
from jaxlint.check import check
from jaxlint.finding import Applicability
from jaxlint.fix.apply import apply_fixes
from jaxlint.project.files import SourceFile
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings

SOURCE = """
from functools import partial

import equinox as eqx
from flax import nnx

TABLE = np.arange(4.0)
KEPT = {{}}


def kernel(name, jit=True):
    def register(function):
        KEPT[name] = jax.jit(function) if jit else function
        return function

    return register


def plain(function):
    return function


{decorators}
def f(x, y):
    return {body}


jax.vmap(f)(jnp.ones(3), jnp.arange(3))
"""


def applicability(decorators: str, body: str, root: Path) -> Applicability:
    fix = suggestion("JAX206", SOURCE.format(decorators=decorators, body=body), root)
    assert fix is not None
    return fix.applicability


@pytest.mark.parametrize(
    ("decorators", "safe"),
    [
        ("@jax.jit", True),
        ("@partial(jax.jit, donate_argnums=0)", True),
        ("@nnx.jit", True),
        ("@plain\n@jax.jit", True),
        ("@jax.jit\n@jax.vmap", True),
        ("@jax.jit\n@plain", False),
        ("@eqx.filter_jit", False),
        ("@plain", False),
        ('@kernel("weight", jit=False)', False),
        ('@kernel("jax.jit")', False),
    ],
)
def test_a_decorator_is_what_the_analysis_made_of_it(decorators: str, safe: bool, tmp_path: Path) -> None:
    found = applicability(decorators, "np.exp(x)", tmp_path)
    assert found is (Applicability.SAFE if safe else Applicability.UNSAFE)


@pytest.mark.parametrize(
    ("body", "safe"),
    [
        ("np.exp(jnp.log(x))", True),
        ("np.hypot(x, jnp.log(x))", True),
        ("np.exp(2 * x)", False),
        ("np.exp(plain(x))", False),
        ("TABLE[jnp.argmax(y)]", True),
        ("TABLE[y]", False),
        ("TABLE[y + 1]", False),
    ],
)
def test_python_numbers_stay_numbers_under_filter_jit(body: str, safe: bool, tmp_path: Path) -> None:
    found = applicability("@eqx.filter_jit", body, tmp_path)
    assert found is (Applicability.SAFE if safe else Applicability.UNSAFE)


@pytest.mark.parametrize(
    "body",
    ["jnp.zeros(int(TABLE[y]))", "float(np.exp(x))", "round(np.exp(x))", "bool(np.array_equal(x, y))"],
)
def test_only_shown_where_python_needs_a_number(body: str, tmp_path: Path) -> None:
    assert applicability("@jax.jit", body, tmp_path) is Applicability.DISPLAY


def test_a_comment_in_the_parentheses_is_written_once(tmp_path: Path) -> None:
    source = SOURCE.format(decorators="@jax.jit", body="(TABLE  # by level\n            )[y]")
    fix = suggestion("JAX206", source, tmp_path)
    assert fix is not None
    assert "return (jnp.asarray(TABLE)  # by level\n            )[y]\n" in apply_fixes(HEADER + source, [fix])


def test_a_jit_that_another_module_calls(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import jax.numpy as jnp\nimport lib\n\nlib.f(jnp.ones(3))\n")
    (tmp_path / "lib.py").write_text(HEADER + "@jax.jit\ndef f(x):\n    return np.exp(x)\n")
    files = [SourceFile(name, str(tmp_path / name), None) for name in ("lib.py", "main.py")]
    rules = [rule for rule in registry.load() if rule.meta.code == "JAX206"]
    (found,) = check(files, Project(str(tmp_path), Settings()), Settings(), rules, jobs=1, cache=False)
    assert found.fix is not None
    assert found.fix.applicability is Applicability.SAFE


BUFFER = """
def push({parameter}, n):
    outs = []
    for i in range(n):
        x = jnp.asarray(buf)
        buf[0] = i
        outs.append(x)
    return outs


print({call})
"""


@pytest.mark.parametrize(
    ("parameter", "call", "safe"),
    [
        ("buf", "push(np.zeros(1000), 3)", False),
        ("buf: np.ndarray", "push(np.zeros(1000), 3)", True),
        ('buf: "np.ndarray"', "push(np.zeros(1000), 3)", True),
        ("buf: list", "push(np.zeros(1000), 3)", False),
    ],
)
def test_a_buffer_that_a_function_is_passed(parameter: str, call: str, safe: bool, tmp_path: Path) -> None:
    fix = suggestion("JAX211", BUFFER.format(parameter=parameter, call=call), tmp_path)
    assert fix is not None
    assert fix.applicability is (Applicability.SAFE if safe else Applicability.UNSAFE)
