"""Names from installed packages: asked for seldom, read and never imported."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from jaxlint import registry
from jaxlint.check import check
from jaxlint.index import installed
from jaxlint.project.files import discover
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings

_PACKAGE = """
import enum
raise SystemExit("imported!")
STATIC = ("n", "mode")
class Plain:
    pass
class Colour(enum.Enum):
    RED = 1
class Middle(Colour):
    pass
"""

_PROGRAM = """
import jax
from faraway.shapes import STATIC, Middle


class Mode(Middle):
    pass


@jax.jit
def plain(x, n):
    return x * n


def scale(x, n, mode):
    return x * n


step = jax.jit(scale, static_argnames=STATIC)


def run(x):
    for n in range(100):
        x = step(x, n, "fast")
    return x


run(1.0)
"""


@pytest.fixture
def faraway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package that must not be imported."""
    package = tmp_path / "site" / "faraway"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "shapes.py").write_text(_PACKAGE)
    monkeypatch.syspath_prepend(str(package.parent))
    for memo in (installed.class_family, installed.constant, installed._is_installed):
        memo.cache_clear()
    return package


def test_family_through_installed_bases(faraway: Path) -> None:
    assert installed.class_family("faraway.shapes.Middle") == "enum"
    assert installed.class_family("faraway.shapes.Plain") == ""
    assert installed.class_family("faraway.shapes.Absent") is None
    assert installed.class_family("notinstalled.anything.Base") is None
    assert "faraway.shapes" not in sys.modules


def test_static_names_from_an_installed_constant(faraway: Path, tmp_path: Path) -> None:
    target = tmp_path / "project"
    target.mkdir()
    (target / "program.py").write_text(_PROGRAM)
    rules = [rule for rule in registry.load() if rule.meta.code == "JAX102"]
    project = Project("", Settings(), [str(target)])
    found = check(discover([str(target)], project).files, project, Settings(), rules, jobs=1, cache=False)
    assert [(f.code, f.span.line) for f in found] == [("JAX102", 24)]
