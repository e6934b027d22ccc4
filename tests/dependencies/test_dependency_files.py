"""What the readers of each format see, end to end through the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jaxlint.cli import main
from jaxlint.dependencies import releases
from jaxlint.dependencies.names import format_of, is_dependency_name
from jaxlint.dependencies.read import environments
from jaxlint.dependencies.text import load
from jaxlint.flow.facts import DependencySet
from jaxlint.project.files import SourceFile


def read(tmp_path: Path, name: str, text: str, **others: str) -> list[DependencySet]:
    for other, content in others.items():
        (tmp_path / other).write_text(content)
    path = tmp_path / name
    path.write_text(text)
    file = SourceFile(name, str(path))
    found = load(file, {file.absolute: file})
    assert found is not None
    return environments(found)


def asked(environment: DependencySet) -> list[str]:
    return [requirement.name for requirement in environment.requirements]


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("pyproject.toml", "pyproject"),
        ("pixi.toml", "pyproject"),
        ("a/requirements.txt", "requirements"),
        ("requirements-gpu.in", "requirements"),
        ("dev_requirements.txt", "requirements"),
        ("requirements/gpu.txt", "requirements"),
        ("requirements.lock", "requirements"),
        ("requirements-dev.lock", "requirements"),
        ("setup.cfg", "setup.cfg"),
        ("uv.lock", "lock"),
        ("poetry.lock", "lock"),
        ("pylock.gpu.toml", "lock"),
        ("environment.yml", "conda"),
        ("ci/environment-gpu.yaml", "conda"),
    ],
)
def test_dependency_files_by_name(path: str, kind: str) -> None:
    assert is_dependency_name(path)
    assert format_of(path) == kind


@pytest.mark.parametrize(
    "path", ["notes.txt", "Cargo.lock", "flake.lock", ".github/workflows/ci.yml", "ruff.toml", "a.py"]
)
def test_other_files_are_left_alone(path: str) -> None:
    assert not is_dependency_name(path)


# ---------------------------------------------------------------- formats


def test_pyproject_gives_an_environment_for_each_extra_and_group(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "pyproject.toml",
        """
        [project]
        name = "My_Pkg"
        dependencies = ["jax"]
        [project.optional-dependencies]
        gpu = ["jax[cuda12]"]
        all = ["my-pkg[gpu]", "torch"]
        [dependency-groups]
        test = ["pytest"]
        dev = [{include-group = "test"}, "mypy"]
        """,
    )
    assert {environment.environment: asked(environment) for environment in found} == {
        "": ["jax"],
        "the extra `gpu`": ["jax", "jax"],
        "the extra `all`": ["jax", "jax", "torch"],
        "the group `test`": ["jax", "pytest"],
        "the group `dev`": ["jax", "mypy", "pytest"],
    }


def test_requirements_include_and_constrain(tmp_path: Path) -> None:
    (found,) = read(
        tmp_path,
        "requirements.txt",
        "-r base.in  # more\n--constraint=limits.txt\n\n   torch \\\n   ==2.1 \\\n  --hash=sha256:ab\n-e .\n",
        **{"base.in": "jax[cuda12]\n-r requirements.txt\n", "limits.txt": "numpy<2\n"},
    )
    assert asked(found) == ["jax", "numpy", "torch"]
    assert [requirement.constraint for requirement in found.requirements] == [False, True, False]
    included, _, own = found.requirements
    # A file that is not looked at itself is reported where it is included.
    assert (included.place.path, included.place.span.line) == ("requirements.txt", 1)
    assert (own.place.span.line, own.place.span.column, own.clauses) == (4, 4, (("==", "2.1"),))


def test_conda_and_the_lines_of_its_pip(tmp_path: Path) -> None:
    (found,) = read(
        tmp_path,
        "environment.yml",
        "name: x\ndependencies:\n- python=3.11\n- conda-forge::jaxlib=0.4.34=*cuda*\n- pip:\n"
        "  - 'jax[cuda12]>=0.5' # gpu\n  - -r more.txt\n- cudnn>=9\nprefix: /opt\n- no\n",
        **{"more.txt": "torch\n"},
    )
    assert asked(found) == ["python", "jaxlib", "jax", "torch", "cudnn"]
    assert [r.conda for r in found.requirements] == [True, True, False, False, True]
    assert found.requirements[1].clauses == (("==", "0.4.34.*"),)
    place = found.requirements[2].place.span
    assert (place.line, place.column, place.end_column) == (6, 6, 22)


def test_poetry(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "pyproject.toml",
        """
        [tool.poetry]
        name = "x"
        [tool.poetry.dependencies]
        python = "^3.11"
        jax = {version = "^0.4", extras = ["cuda12"]}
        torch = {version = "*", optional = true}
        numpy = [{version = "<2", python = "<3.12"}, {version = ">=2", python = ">=3.12"}]
        [tool.poetry.extras]
        data = ["torch"]
        [tool.poetry.group.dev.dependencies]
        pytest = "*"
        """,
    )
    assert {environment.environment: asked(environment) for environment in found} == {
        "": ["jax", "numpy"],
        "the extra `data`": ["jax", "numpy", "torch"],
        "the group `dev`": ["jax", "numpy", "pytest"],
    }
    jax, numpy = found[0].requirements
    assert (jax.extras, jax.conditional, numpy.conditional) == ({"cuda12"}, False, True)


def test_prose_is_no_requirement(tmp_path: Path) -> None:
    (found,) = read(tmp_path, "notes.txt", "jax is fast\njax\njaxlib (==0.4.20)\nuse torch, too\n[jax]\n")
    assert [(r.name, r.clauses) for r in found.requirements] == [("jax", ()), ("jaxlib", (("==", "0.4.20"),))]


def test_what_never_runs_on_linux_is_left_out(tmp_path: Path) -> None:
    (found,) = read(
        tmp_path, "requirements.txt", "jax\ntorch; sys_platform == 'darwin'\nnumpy; python_version < '3.12'\n"
    )
    assert asked(found) == ["jax", "numpy"]
    assert found.requirements[1].conditional


LOCK = """
[[package]]
name = "jax"
version = "0.8.0"

[[package]]
name = "nvidia-cudnn-cu12"
version = "9.8"
optional = {optional}

[package.dependencies]
name = "9.9"

[[package]]
name = "nvidia-cudnn-cu13"
version = "9.13"
markers = "{marker}"
"""


def test_packages_of_a_lock_file(tmp_path: Path) -> None:
    (found,) = read(tmp_path, "poetry.lock", LOCK.format(optional="false", marker="sys_platform == 'linux'"))
    assert [(r.name, r.clauses[0][1], r.place.span.line) for r in found.requirements] == [
        ("jax", "0.8.0", 3),
        ("nvidia-cudnn-cu12", "9.8", 7),
        ("nvidia-cudnn-cu13", "9.13", 15),
    ]
    (found,) = read(tmp_path, "poetry.lock", LOCK.format(optional="true", marker="sys_platform == 'win32'"))
    assert asked(found) == ["jax"]


@pytest.mark.parametrize("name", ["uv.lock", "pyproject.toml", "requirements.txt", "environment.yml"])
@pytest.mark.parametrize(
    "text", ["jax = [", "[[package]]\nname = 'jax'", "jax\0", "- jax\n\t- [", "-r\njax[\n"]
)
def test_broken_files_are_read_as_far_as_they_go(name: str, text: str, tmp_path: Path) -> None:
    assert all(isinstance(found, DependencySet) for found in read(tmp_path, name, text))


# ---------------------------------------------------------------- the table


def test_the_table_knows_who_asks_for_what() -> None:
    assert releases.minimum_jaxlib("0.4.20") == "0.4.14"
    assert releases.cudnn_of_jax("0.4.20", frozenset()) is None
    plugin = releases.cudnn_of_jax("0.8.0", frozenset({"cuda12"}))
    assert plugin is not None
    assert plugin.name == "nvidia-cudnn-cu12"
    assert (">=", "9.8") in plugin.clauses
    own = releases.cudnn_of_jax("0.4.20", frozenset({"cuda12-pip"}))
    assert own is not None
    assert (">=", "8.9") in own.clauses
    assert releases.required("jax", "99.0") == []


def test_every_release_of_the_table_can_be_read() -> None:
    for package in ("jax", *releases.PLUGINS, "torch"):
        assert releases.versions(package)
        for version in releases.versions(package):
            assert all(
                line.name and (line.clauses or line.extras) for line in releases.required(package, version)
            )


# ---------------------------------------------------------------- the command

PYPROJECT = """[project]
name = "x"
dependencies = [
    "jax[cuda12]>=0.5",
    "torch",{comment}
]
"""


def findings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *arguments: str
) -> list[tuple[str, str, int]]:
    main(["check", *arguments, "--output-format", "json", str(tmp_path)])
    found = json.loads(capsys.readouterr().out)
    return [(one["code"], Path(one["path"]).name, one["start"]["line"]) for one in found]


def test_a_directory_is_looked_at_with_its_dependency_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT.format(comment=""))
    (tmp_path / "requirements.txt").write_text("jax==0.4.20\njaxlib\n")
    (tmp_path / "a.py").write_text("import jax\n")
    assert findings(tmp_path, capsys) == [("JAX702", "pyproject.toml", 5), ("JAX704", "requirements.txt", 2)]
    assert findings(tmp_path, capsys, "--select", "JAX1") == []


def test_comments_suppress_in_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").write_text(
        PYPROJECT.format(comment="  # jaxlint: ignore[JAX702] a comparison")
    )
    (tmp_path / "requirements.txt").write_text("jax==0.4.20\n# jaxlint: ignore[JAX704]\njaxlib\n")
    (tmp_path / "environment.yml").write_text(
        "dependencies:\n- pip:\n  - jax[cuda12]>=0.5\n  - torch  # jaxlint: ignore[JAX702]\n"
    )
    assert findings(tmp_path, capsys) == []


def test_comments_that_suppress_nothing_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(
        'description = "# jaxlint: ignore[JAX701]"\n[project]\nname = "x"  # jaxlint: ignore[JAX701]\n'
        '# jaxlint: ignore[JAX9999]\ndependencies = ["jax"]\n'
    )
    assert findings(tmp_path, capsys) == [("JAX002", "pyproject.toml", 3), ("JAX003", "pyproject.toml", 4)]


def test_a_file_that_is_named_may_be_called_anything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "gpu-deps.txt"
    path.write_text("jax==0.4.20\njaxlib\n")
    assert findings(tmp_path, capsys) == []
    assert [code for code, _, _ in findings(path, capsys)] == ["JAX704"]


def test_per_file_ignores_and_severities_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "requirements.txt").write_text("jax==0.4.20\njaxlib\n")
    settings = tmp_path / "jaxlint.toml"
    settings.write_text('[per-file-ignores]\n"requirements*.txt" = ["JAX7"]\n')
    assert findings(tmp_path, capsys) == []
    settings.write_text('[severity]\nJAX704 = "info"\n')
    assert main(["check", str(tmp_path)]) == 0


# ---------------------------------------------------------------- setuptools


def test_setup_cfg_gives_an_environment_for_each_extra(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "setup.cfg",
        "[metadata]\nname = a\n\n[options]\ninstall_requires =\n    jax==0.4.20\n"
        "    chex; sys_platform == 'win32'\n    numpy\npython_requires = >=3.9\n\n"
        "[options.extras_require]\ngpu = jax[cuda12]; torch\n"
        "dev =\n    pytest\n",
    )
    assert [(e.environment, asked(e)) for e in found] == [
        ("", ["jax", "numpy"]),
        ("the extra `gpu`", ["jax", "numpy", "jax", "torch"]),
        ("the extra `dev`", ["jax", "numpy", "pytest"]),
    ]
    jax, numpy = found[0].requirements
    assert (jax.place.span.line, jax.place.span.column, jax.clauses) == (6, 5, (("==", "0.4.20"),))
    assert numpy.place.span.line == 8
    torch = found[1].requirements[-1]
    assert (torch.place.span.line, torch.place.span.column, torch.group) == (12, 20, "gpu")


def test_setup_cfg_may_name_a_file(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "setup.cfg",
        "[options]\ninstall_requires = file: base.txt\n",
        **{"base.txt": "jax\njaxlib==0.4.20\n"},
    )
    assert [asked(e) for e in found] == [["jax", "jaxlib"]]
    assert {r.place.span.line for r in found[0].requirements} == {2}  # the file is not among those given


def test_setup_py_is_read_and_not_run(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "setup.py",
        "import setuptools\n\nraise_if_run = 1 / 0\nCORE = ['jax>=0.4.1', 'numpy']\n"
        "EXTRAS = {'gpu': ['jax[cuda12]']}\nsetuptools.setup(\n"
        "    name='a',\n    install_requires=CORE + ['chex'],\n"
        "    extras_require=EXTRAS,\n)\n",
    )
    assert [(e.environment, asked(e)) for e in found] == [
        ("", ["jax", "numpy", "chex"]),
        ("the extra `gpu`", ["jax", "numpy", "chex", "jax"]),
    ]
    assert [r.place.span.line for r in found[0].requirements] == [4, 4, 8]


def test_a_setup_py_that_cannot_be_parsed_says_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "setup.py", "setup(install_requires=['jax'\n") == []


def test_a_text_of_several_lines_is_as_many_requirements(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "setup.py",
        'from setuptools import setup\n\nREQUIRED = """jax==0.4.20\njaxlib\n# numpy\n""".split("\\n")\n'
        "setup(install_requires=REQUIRED)\n",
    )
    assert [(r.name, r.place.span.line) for r in found[0].requirements] == [("jax", 3), ("jaxlib", 4)]


# ---------------------------------------------------------------- Pixi and PDM

PIXI = """
[dependencies]
python = "3.11.*"
[pypi-options]
extra-index-urls = ["https://example.org/cpu"]
[pypi-dependencies]
jax = { version = "==0.6.2", extras = ["cuda12"] }
torch = "*"
[feature.old.pypi-dependencies]
jaxlib = "==0.6.0"
"""


@pytest.mark.parametrize("name", ["pixi.toml", "pyproject.toml"])
def test_pixi_by_itself_and_in_pyproject(name: str, tmp_path: Path) -> None:
    text = PIXI if name == "pixi.toml" else PIXI.replace("\n[", "\n[tool.pixi.")
    base, old = read(tmp_path, name, text)
    assert asked(base) == ["jax", "torch"]
    assert asked(old) == ["jax", "torch", "jaxlib"]
    assert base.indexes == ("https://example.org/cpu",)
    assert base.requirements[0].extras == {"cuda12"}
    assert base.requirements[0].clauses == (("==", "0.6.2"),)


def test_groups_of_pdm(tmp_path: Path) -> None:
    text = """
    [project]
    name = "a"
    dependencies = ["jax"]
    [tool.pdm.dev-dependencies]
    test = ["torch"]
    """
    assert [asked(found) for found in read(tmp_path, "pyproject.toml", text)] == [["jax"], ["jax", "torch"]]


def test_a_compiled_requirements_file_may_be_called_a_lock(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["# compiled by uv", "jax==0.6.2", "nvidia-cudnn-cu12==9.13.1.26", "    # via jax"]
    (tmp_path / "requirements.lock").write_text("\n".join([*lines, "nvidia-cudnn-cu13==9.15.1.9", ""]))
    assert findings(tmp_path, capsys) == [("JAX701", "requirements.lock", 5)]
