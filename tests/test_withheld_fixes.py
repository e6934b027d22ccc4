"""No fix where the file itself shows what the change would break."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace_suggestions import finding, suggestion

from jaxlint.finding import Applicability

LOSS = """
@jax.jit
def loss(w, x, y=None):
    return jnp.sum(w * x) if y is None else jnp.sum((w * x - y) ** 2)


w = x = jnp.ones(3)
batch = {{"y": x}}
for _ in range(2):
    a = loss(w, x, x)
    b = loss(w, x, {given})
"""
SETTING = """
import jax
{above}
os.environ["JAX_DEBUG_NANS"] = "1"
{below}
"""
GUARDED = """
import equinox as eqx
import functools


@eqx.debug.assert_max_traces(max_traces=5)
@{between}
@jax.jit
def kernel(width):
    return jnp.exp(-width)
"""

SPREAD = """
import equinox as eqx


@eqx.filter_jit
def step(x, k):
    return x * k


x = jnp.ones(3)
for i in range(3):
    x = step({given})
"""


@pytest.mark.parametrize("given", ["**batch", "y=(e := x)", "y=x,  # the targets\n    "])
def test_a_form_that_cannot_be_spelled_the_other_way(given: str, tmp_path: Path) -> None:
    assert suggestion("JAX114", LOSS.format(given=given), tmp_path) is None


def test_a_form_that_can(tmp_path: Path) -> None:
    fix = suggestion("JAX114", LOSS.format(given="y=x"), tmp_path)
    assert fix is not None and fix.applicability is Applicability.SAFE


MEANING = """
from functools import partial


def gap(x, y):
    return (x - y).sum()


def other(y, x):
    return (x - y).sum()


{made}


x = jnp.arange(9.0).reshape(3, 3)
for _ in range(2):
    a = f(x, x)
    b = f(x, y=x)
"""


@pytest.mark.parametrize(
    "made",
    [
        "f = jax.jit(jax.vmap(gap, in_axes=1))",
        "f = jax.jit(jax.vmap(gap, (0, None)))",
        "f = jax.vmap(jax.jit(gap), in_axes=1)",
        "f = jax.jit(jax.checkpoint(jax.vmap(jax.grad(gap), in_axes=-1)))",
        "f = jax.jit(partial(jax.vmap, in_axes=1)(gap))",
        "f = jax.jit(jax.pmap(gap, in_axes=(0, None)))",
        "axes = {'in_axes': 1}\nf = jax.jit(jax.vmap(gap, **axes))",
        "f = jax.jit(jax.grad(gap, argnums=-1))",
        "f = jax.jit(gap, static_argnums=1, static_argnames='x')",
        "f = jax.jit(gap, static_argnums=-1)",
        "f = jax.jit(gap, donate_argnums=0, donate_argnames='y')",
        "f = partial(jax.jit, donate_argnums=(0,), donate_argnames=('y',))(gap)",
        "f = jax.jit(gap if jax.device_count() > 1 else other)",
        "if jax.device_count() > 1:\n    f = jax.jit(gap)\nelse:\n    f = jax.jit(other)",
        "@jax.jit\ndef f(x, y):\n    return x - y\nif jax.device_count() > 1:\n    f = jax.jit(other)",
    ],
)
def test_a_keyword_that_may_mean_something_else(made: str, tmp_path: Path) -> None:
    assert suggestion("JAX114", MEANING.format(made=made), tmp_path) is None


@pytest.mark.parametrize(
    "made",
    [
        "f = jax.jit(jax.vmap(gap))",
        "f = jax.jit(jax.vmap(gap, in_axes=0, out_axes=0))",
        "f = jax.jit(jax.grad(gap, argnums=1))",
        "f = jax.jit(gap, donate_argnums=(), donate_argnames=None)",
        "f = jax.jit(lambda x, y: jax.vmap(gap, in_axes=1)(x, y))",
        "f = jax.jit(gap if jax.device_count() > 1 else lambda x, y: x)",
    ],
)
def test_a_keyword_that_means_the_same(made: str, tmp_path: Path) -> None:
    fix = suggestion("JAX114", MEANING.format(made=made), tmp_path)
    assert fix is not None and fix.applicability is Applicability.SAFE


LATER = """
{first}


def show(x):
    for _ in range(2):
        a = f(x, x)
        b = f(x, y=x)


show(jnp.ones(3))
{then}
"""


def test_a_name_that_is_bound_again(tmp_path: Path) -> None:
    first = "f = jax.jit(lambda x, y: x - y)"
    then = "f = jax.jit(lambda y, x: x - y)\nshow(jnp.ones(3))"
    assert suggestion("JAX114", LATER.format(first=first, then=then), tmp_path) is None
    assert suggestion("JAX114", LATER.format(first=first, then=""), tmp_path) is not None


def setting(tmp_path: Path, first: str, above: str = "", below: str = "") -> object:
    from test_trace_suggestions import HEADER

    source = SETTING.format(above=above, below=below)
    assert "import jax" in HEADER  # the settings come after it: so the imports of `os` are what is written
    (tmp_path / "example.py").write_text(first + source, encoding="utf-8")
    from jaxlint import registry
    from jaxlint.check import check
    from jaxlint.project.root import Project
    from jaxlint.project.settings import Settings
    from jaxlint.sources import SourceFile

    files = [SourceFile(path="example.py", absolute=str(tmp_path / "example.py"), data=None)]
    rules = [rule for rule in registry.load() if rule.meta.code == "JAX503"]
    found, *_ = check(files, Project(str(tmp_path), Settings()), Settings(), rules, jobs=1, cache=False)
    return found.fix


@pytest.mark.parametrize(
    ("first", "above", "below"),
    [
        ('"""Set up.\n\nimport os before you run this.\n"""', "import os", ""),
        ("import os.path as osp\nfrom os import path", "import os", ""),
        ("import os", 'before = os.environ.get("JAX_DEBUG_NANS")', ""),
        ("import os", 'before = os.getenv("JAX_DEBUG_NANS")', ""),
        ("import os", "", 'del os.environ["JAX_DEBUG_NANS"]'),
        ("import os", "", 'os.system("python child.py")'),
        ("import os\nimport subprocess", "", 'subprocess.run(["child"])'),
    ],
)
def test_a_setting_that_depends_on_its_place(first: str, above: str, below: str, tmp_path: Path) -> None:
    assert setting(tmp_path, first, above, below) is None


@pytest.mark.parametrize("first", ["import os", "import os.path"])
def test_a_setting_that_does_not(first: str, tmp_path: Path) -> None:
    assert setting(tmp_path, first) is not None


@pytest.mark.parametrize("between", ["functools.lru_cache(maxsize=8)", "functools.cache"])
def test_a_guard_around_a_cache(between: str, tmp_path: Path) -> None:
    assert suggestion("JAX113", GUARDED.format(between=between), tmp_path) is None


def test_a_guard_around_a_name(tmp_path: Path) -> None:
    fix = suggestion("JAX113", GUARDED.format(between='jax.named_scope("k")'), tmp_path)
    assert fix is not None


GIVEN = [
    'x, **{"k": i * 0.5}',
    "x, *[i * 0.5]",
    "*[x, i * 0.5]",
    "x, *(i * 0.5,), **{}",
    "*[x, i * 0.5], *[]",
]


@pytest.mark.parametrize("given", GIVEN)
def test_an_argument_that_a_star_brings(given: str, tmp_path: Path) -> None:
    found = finding("JAX101", SPREAD.format(given=given), tmp_path)
    assert found.fix is None
    assert "every value of `k`" in found.message and "Pass it as an array." in found.message


def test_an_argument_after_what_a_star_brings(tmp_path: Path) -> None:
    source = SPREAD.replace("x, k)", "x, k, n)").format(given="*[x, i * 0.5], 1.0, *[]")
    found = finding("JAX101", source, tmp_path)
    assert found.fix is None
    assert "every value of `k`" in found.message


def test_an_argument_before_a_star(tmp_path: Path) -> None:
    fix = suggestion("JAX101", SPREAD.format(given="x, i * 0.5, *[]"), tmp_path)
    assert fix is not None and fix.edits[0].text == "jnp.asarray(i * 0.5)"


CAUGHT = """
import contextlib
import pytest


@jax.jit
def fast(x):
    return np.tanh(x)


def helper(x):
    return fast(x)


def slow(x):
    return x


alias = {{"f": fast}}
table = {{}}
table["f"], first = fast, 1


def run(x):
{body}
"""
LIVES_ON = [
    "try:\n return fast(x)\nexcept Exception:\n return slow(x)",
    "try:\n return helper(x)\nexcept (ValueError, TypeError):\n return slow(x)",
    "try:\n return alias['f'](x)\nexcept:\n return slow(x)",
    "try:\n return table['f'](x)\nexcept Exception:\n return slow(x)",
    "try:\n return fast(x)\nexcept jax.errors.TracerArrayConversionError:\n return slow(x)",
    "try:\n return fast(x)\nexcept Exception:\n if x is None:\n  return slow(x)\n raise",
    "with contextlib.suppress(TypeError):\n return fast(x)",
    "with pytest.raises(TypeError):\n fast(x)",
]
STOPS = [
    "return fast(x)",
    "try:\n return fast(x)\nexcept ValueError:\n return slow(x)",
    "try:\n return fast(x)\nexcept Exception as error:\n print(x)\n raise RuntimeError() from error",
    "try:\n return slow(x)\nexcept Exception:\n return x",
    "try:\n return fast(x)\nfinally:\n print(x)",
]


@pytest.mark.parametrize("body", LIVES_ON + STOPS)
def test_an_error_that_the_program_lives_on(body: str, tmp_path: Path) -> None:
    source = (
        CAUGHT.format(body="".join(f"    {line}\n" for line in body.split("\n"))) + "\n\nrun(jnp.ones(2))\n"
    )
    fix = suggestion("JAX206", source, tmp_path)
    assert fix is not None
    assert fix.applicability is (Applicability.UNSAFE if body in LIVES_ON else Applicability.SAFE)


@pytest.mark.parametrize(
    ("line", "there"),
    [
        ("jnp = 3", False),
        ("for jnp in (1, 2): pass", False),
        ("g = lambda jnp: jnp", False),
        ("import numpy as jnp", False),
        ("import jax.numpy as jnp", True),
        ("from jax import numpy as jnp", True),
        ("pass", True),
    ],
)
def test_a_name_that_means_something_else_inside(line: str, there: bool, tmp_path: Path) -> None:
    source = f"@jax.jit\ndef f(x):\n    {line}\n    return np.tanh(x)\n\n\nf(np.ones(2))\n"
    assert (suggestion("JAX206", source, tmp_path) is not None) is there
