"""The pre-commit hooks: what they are given, and that what they run is understood."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import pytest

from jaxlint.cli import options
from jaxlint.dependencies.names import is_dependency_name

yaml = pytest.importorskip("yaml")
HOOKS: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[1] / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
)
GIVEN = [
    *("a.py", "pkg/a.pyi", "pyproject.toml", "sub/pyproject.toml", "uv.lock", "sub/poetry.lock"),
    *("pylock.toml", "pylock.gpu.toml", "requirements.txt", "requirements-dev.txt", "dev-requirements.txt"),
    *("requirement.txt", "requirements.in", "requirements/base.txt", "sub/requirements/gpu.in"),
    *("requirements.lock", "requirements-dev.lock"),
    *("environment.yml", "environment-gpu.yaml", "env.yml", "conda-env.yml", "setup.cfg", "setup.py"),
]
OTHERS = [
    *("my-pyproject.toml", "requirements/sub/base.txt", "myenv.yml", "notes.txt", "tox.cfg", "a.pyc"),
    *("Cargo.lock", "flake.lock", "README.md", "ci.yml"),
]


@pytest.mark.parametrize("hook", HOOKS, ids=[hook["id"] for hook in HOOKS])
def test_hooks_are_given_what_the_command_looks_at(hook: dict[str, Any]) -> None:
    assert [name for name in (*GIVEN, *OTHERS) if re.search(hook["files"], name)] == GIVEN
    assert [
        name for name in (*GIVEN, *OTHERS) if name.endswith((".py", ".pyi")) or is_dependency_name(name)
    ] == GIVEN


@pytest.mark.parametrize("hook", HOOKS, ids=[hook["id"] for hook in HOOKS])
def test_entries_are_understood(hook: dict[str, Any]) -> None:
    program, command, *arguments = hook["entry"].split()
    assert (program, command) == ("jaxlint", "check")
    parser = ArgumentParser()
    options.add_to(parser)
    args = parser.parse_args([*arguments, "a.py"])
    assert args.force_exclude
    assert args.fix == (hook["id"] == "jaxlint-fix")
