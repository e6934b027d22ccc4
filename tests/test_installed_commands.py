"""A function that a project installs as a command is a program: what it configures, its user has asked for."""

from __future__ import annotations

from pathlib import Path

from jaxlint import registry
from jaxlint.check import check
from jaxlint.project.files import discover
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings

SOURCE = """\
import jax


def sweep():
    jax.config.update("jax_enable_x64", True)
"""


def codes(tmp_path: Path, pyproject: str) -> list[str]:
    (tmp_path / "pyproject.toml").write_text(pyproject)
    module = tmp_path / "src" / "pkg" / "tools.py"
    module.parent.mkdir(parents=True, exist_ok=True)
    module.write_text(SOURCE)
    project = Project(str(tmp_path), Settings())
    files = discover([str(tmp_path / "src")], project).files
    return [
        finding.code for finding in check(files, project, Settings(), registry.load(), jobs=1, cache=False)
    ]


def test_a_command_may_configure(tmp_path: Path) -> None:
    assert codes(tmp_path, '[project.scripts]\nsweep = "pkg.tools:sweep"\n') == []


def test_another_function_may_not(tmp_path: Path) -> None:
    assert codes(tmp_path, '[project.scripts]\nsweep = "pkg.other:sweep"\n') == ["JAX501"]
    assert codes(tmp_path, '[project.scripts]\nsweep = "pkg.tools:main"\n') == ["JAX501"]
