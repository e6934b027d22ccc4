"""No fix is made to what others than the finding's own code use: a scan's body, a module's value."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint import registry
from jaxlint.check import check
from jaxlint.finding import Applicability
from jaxlint.project.files import SourceFile
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings

BODY = """\
import jax
import jax.numpy as jnp


def step(x, _):
    x = jnp.cos(x)
    return x, x * 2


def final(x):
    x, _ = jax.lax.scan({given}, x, None, length=30)
    return x


last = final(jnp.ones(2))
"""
TABLES = """\
import jax
import jax.numpy as jnp

TAU = jnp.array([0.1, 0.2, 0.3])


@jax.jit
def f(x):
    return jnp.dot(x, TAU)
"""


def kind(code: str, root: Path, first: str, others: dict[str, str] | None = None) -> Applicability:
    """Of the fix at the only finding of a rule, in the first of a package's modules."""
    modules = {"pkg/__init__.py": "", "pkg/first.py": first, **(others or {})}
    for name, text in modules.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    files = [SourceFile("pkg/first.py", str(root / "pkg/first.py"), None)]
    rules = [rule for rule in registry.load() if rule.meta.code == code]
    settings = Settings()
    (found,) = check(files, Project(str(root), settings), settings, rules, jobs=1, cache=False)
    assert found.fix is not None
    return found.fix.applicability


@pytest.mark.parametrize("given", ["step", "jax.checkpoint(step)", "lambda x, _: (x * 2, x)"])
def test_a_body_that_one_scan_uses(given: str, tmp_path: Path) -> None:
    assert kind("JAX303", tmp_path, BODY.format(given=given)) is Applicability.UNSAFE


@pytest.mark.parametrize(
    "other",
    [
        "def path(x):\n    return jax.lax.scan(step, x, None, length=30)[1]\n",
        "once = step(jnp.ones(2), None)[1].sum()\n",
        "BODIES = {'cos': step}\n",
        "__all__ = ['final', 'step']\n",
    ],
)
def test_a_body_that_others_use(other: str, tmp_path: Path) -> None:
    source = BODY.format(given="step") + "\n\n" + other
    assert kind("JAX303", tmp_path, source) is Applicability.DISPLAY


@pytest.mark.parametrize(
    "importing",
    [
        "from pkg.first import step",
        "from .first import step as advance",
        "from . import first",
        "import pkg.first",
        "from pkg.first import *",
        "def run():\n    from pkg.first import step\n    return step",
    ],
)
def test_a_body_that_another_module_imports(importing: str, tmp_path: Path) -> None:
    source = BODY.format(given="step")
    others = {"pkg/second.py": f"import jax\n\n{importing}\n"}
    assert kind("JAX303", tmp_path, source, others) is Applicability.DISPLAY


def test_a_module_of_which_others_take_something_else(tmp_path: Path) -> None:
    source = BODY.format(given="step")
    others = {"pkg/second.py": "import jax\nfrom pkg.first import final\n\nrun = jax.jit(final)\n"}
    assert kind("JAX303", tmp_path, source, others) is Applicability.UNSAFE


@pytest.mark.parametrize(
    ("importing", "expected"),
    [
        ("from pkg.first import TAU\n\nSMALL = TAU.at[0].set(0.0)", Applicability.DISPLAY),
        ("from pkg import first\n\nSMALL = first.TAU.at[0].set(0.0)", Applicability.DISPLAY),
        ("from pkg.first import f\n\nrun = jax.jit(f)", Applicability.UNSAFE),
    ],
)
def test_a_value_that_another_module_may_use(importing: str, expected: Applicability, tmp_path: Path) -> None:
    others = {"pkg/second.py": f"import jax\n{importing}\n"}
    assert kind("JAX504", tmp_path, TABLES, others) is expected
