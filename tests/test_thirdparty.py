"""A rule in another distribution is listed, explained, run and suppressed like one of ours."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jaxlint import page
from jaxlint.page import Example
from jaxlint.project import toml

PACKAGE = Path(__file__).resolve().parents[1] / "fixtures" / "thirdparty"
PAGE = page.read(PACKAGE / "acme_lint" / "rules" / "pmap_boundary.md")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the package as an installer leaves it: what pyproject.toml names, and its metadata."""
    site = tmp_path_factory.mktemp("site")
    declared: dict[str, Any] = toml.load(str(PACKAGE / "pyproject.toml"))
    data = declared["tool"]["setuptools"]["package-data"]
    for name in declared["tool"]["setuptools"]["packages"]:
        source = PACKAGE.joinpath(*name.split("."))
        target = site.joinpath(*name.split("."))
        target.mkdir(parents=True)
        for pattern in ("*.py", *data.get(name, ())):
            for file in source.glob(pattern):
                shutil.copy(file, target)
    project = declared["project"]
    info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = [
        line
        for group, entries in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return site


def jaxlint(site: Path, *arguments: str) -> str:
    """What the command prints. It may find something, and it says nothing on stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "jaxlint", *arguments],
        env=os.environ | {"PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode in (0, 1), done.stderr) == (True, "")
    return done.stdout


def found(site: Path, source: str, path: Path, *options: str) -> list[tuple[str, int]]:
    """(code, line) of what the command reports of a program."""
    path.write_text(source)
    printed = jaxlint(
        site, "check", "--isolated", "--no-cache", "--output-format", "json", *options, str(path)
    )
    return [(finding["code"], finding["start"]["line"]) for finding in json.loads(printed)]


def test_it_is_listed(site: Path) -> None:
    listed = json.loads(jaxlint(site, "rules", "--output-format", "json"))
    assert [rule["slug"] for rule in listed if rule["code"] == "ACME101"] == ["pmap-boundary"]
    assert any(rule["code"].startswith("JAX") for rule in listed)


def test_it_is_explained(site: Path) -> None:
    assert PAGE.sections["Why is this bad?"] in jaxlint(site, "explain", "pmap-boundary")


@pytest.mark.parametrize("example", PAGE.examples, ids=[f"line {e.line}" for e in PAGE.examples])
def test_its_page_is_true(example: Example, site: Path, tmp_path: Path) -> None:
    (block,) = example.blocks
    expected = [(mark.code, mark.line) for mark in block.marks]
    assert found(site, block.source, tmp_path / "train.py", "--select", "ACME101") == expected


def test_it_runs_by_default_and_obeys_comments_and_selectors(site: Path, tmp_path: Path) -> None:
    program = "import jax\n\nstep = jax.pmap(lambda x: x)\n"
    quiet = program.replace("x)\n", "x)  # jaxlint: ignore[ACME101] the old cluster\n")
    path = tmp_path / "train.py"
    assert ("ACME101", 3) in found(site, program, path)
    assert ("ACME101", 3) not in found(site, quiet, path)
    assert ("ACME101", 3) not in found(site, program, path, "--ignore", "ACME")
