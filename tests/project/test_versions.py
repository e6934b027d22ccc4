"""Which versions a project is judged for."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.project.root import Project
from jaxlint.project.settings import Settings
from jaxlint.project.versions import NEWEST


def project(tmp_path: Path, settings: Settings | None = None, **files: str) -> Project:
    for name, text in files.items():
        (tmp_path / name.replace("__", "-").replace("_", ".")).write_text(text)
    return Project(str(tmp_path), settings or Settings())


UV = """\
[[package]]
name = "jax"
version = "0.5.3"
source = { registry = "https://pypi.org/simple" }

[[package]]
name = "jaxlib"
version = "0.5.1"
"""


def test_setting_first(tmp_path: Path) -> None:
    assert project(tmp_path, Settings(jax_version=(0, 4, 30)), uv_lock=UV).jax_version == (0, 4, 30)


@pytest.mark.parametrize("name", ["uv_lock", "poetry_lock", "pylock_toml"])
def test_lock_files(name: str, tmp_path: Path) -> None:
    found = project(tmp_path, **{name: UV})
    assert found.jax_version == (0, 5, 3)
    assert found.flax_version == NEWEST["flax"]


def test_the_oldest_of_several_locked(tmp_path: Path) -> None:
    forked = UV + '\n[[package]]\nname = "jax"\nversion = "0.4.38"\n'
    assert project(tmp_path, uv_lock=forked).jax_version == (0, 4, 38)


def test_requirements(tmp_path: Path) -> None:
    text = "# pinned\njax[cuda12]==0.6.2 ; python_version > '3.10'\njaxlib==0.6.0\nequinox>=0.11\n"
    found = project(tmp_path, requirements__dev_txt=text)
    assert found.jax_version == (0, 6, 2)
    assert found.equinox_version == NEWEST["equinox"]


def test_a_library_of_a_project_that_does_not_name_jax(tmp_path: Path) -> None:
    found = project(tmp_path, pyproject_toml="[project]\ndependencies = ['equinox>=0.11.2']\n")
    assert found.equinox_version == (0, 11, 2)


@pytest.mark.parametrize(
    ("pyproject", "expected"),
    [
        ("[project]\ndependencies = ['jaxlib>=0.3', 'jax >=0.4.30,<0.6,!=0.4.31', 'flax']\n", (0, 4, 30)),
        ("[project]\ndependencies = ['jax[cuda12]~=0.7.1']\n", (0, 7, 1)),
        ("[project]\ndependencies = ['jax<0.6']\n", NEWEST["jax"]),
        ("[project]\ndependencies = ['jax (>=0.4.1)']\n", (0, 4, 1)),
        ("[project.optional-dependencies]\ngpu = ['jax[cuda13]>=0.8']\n", (0, 8)),
        ("[dependency-groups]\ndev = ['jax==0.4.35', {include-group = 'x'}]\n", (0, 4, 35)),
        ("[tool.poetry.dependencies]\njax = '^0.4.20'\n", (0, 4, 20)),
        ("[tool.poetry.dependencies]\njax = {version = '0.4.21', extras = ['cuda']}\n", (0, 4, 21)),
        ("[project]\nname = 'x'\n", NEWEST["jax"]),
        ("project = 1\n", NEWEST["jax"]),
    ],
)
def test_requirements_of_pyproject(pyproject: str, expected: tuple[int, ...], tmp_path: Path) -> None:
    assert project(tmp_path, pyproject_toml=pyproject).jax_version == expected


@pytest.mark.parametrize(
    ("pyproject", "expected"),
    [
        ("[project]\nrequires-python = '>=3.12'\n", (3, 12)),
        ("[project]\nrequires-python = '>=3.11,<4'\n", (3, 11)),
        ("[project]\nrequires-python = '~=3.13.1'\n", (3, 13)),
        ("[project]\nrequires-python = '>=3'\n", (3, 10)),
        ("[project]\nrequires-python = '>=3.8'\n", (3, 10)),
        ("[project]\nrequires-python = '<4'\n", (3, 10)),
        ("[tool.poetry.dependencies]\npython = '^3.12'\n", (3, 12)),
        ("", (3, 10)),
    ],
)
def test_python(pyproject: str, expected: tuple[int, int], tmp_path: Path) -> None:
    assert project(tmp_path, pyproject_toml=pyproject).requires_python == expected


def test_no_root_means_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "uv.lock").write_text(UV)
    monkeypatch.chdir(tmp_path)
    assert Project("", Settings()).jax_version == NEWEST["jax"]


def test_commands_of_the_project(tmp_path: Path) -> None:
    text = """
    [project.scripts]
    fit = "pkg.cli:fit"
    sweep = "pkg.tools:Sweep.run [extra]"
    [tool.poetry.scripts]
    draw = "pkg.plot:main"
    broken = {reference = "pkg.other:main", type = "console"}
    """
    found = project(tmp_path, pyproject_toml=text).commands
    assert found == {("pkg.cli", "fit"), ("pkg.tools", "Sweep.run"), ("pkg.plot", "main")}
    assert project(tmp_path, pyproject_toml="[project]\nname = 'x'\n").commands == frozenset()
