"""Which modules a run analyses, and what it knows of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from jaxlint.index.records import ModuleRecord
from jaxlint.index.survey import Survey
from jaxlint.index.table import ModuleEntry
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings
from jaxlint.session import Session
from jaxlint.sources import Sources


def surveyed(root: Path, files: Mapping[str, str]) -> Survey:
    """A survey of a project with these files. No record may be asked for."""

    def load(entry: ModuleEntry) -> ModuleRecord:
        pytest.fail(f"{entry.name} was looked into")

    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    sources = Sources({})
    contents, _ = sources.read_all(str(path) for path in root.rglob("*.py"))
    return Survey(contents, sources, str(root), load)


def names(entries: Iterable[ModuleEntry]) -> list[str]:
    return [entry.name for entry in entries]


FILES = {
    "pkg/__init__.py": "",
    "pkg/model.py": "import jax\nfrom pkg.text import clean\n",
    "pkg/text.py": "import re\nfrom pkg import words\n",
    "pkg/words.py": "",
    "pkg/loop.py": "from pkg.model import step\n",
    "train.py": "from pkg import loop\n",
    "plot.py": "import pkg\n",
    "other/lone.py": "import jax\n",
    "unrelated.py": "import os\n",
}


def test_roots_name_jax_or_take_from_those_that_do(tmp_path: Path) -> None:
    assert names(surveyed(tmp_path, FILES).roots) == ["lone", "pkg.loop", "pkg.model", "train"]


def test_roots_of_given_files_are_their_users_too(tmp_path: Path) -> None:
    survey = surveyed(tmp_path, FILES)
    assert names(survey.roots_of({str(tmp_path / "pkg/loop.py")})) == ["pkg.loop", "train"]
    assert names(survey.roots_of({str(tmp_path / "train.py")})) == ["train"]
    assert names(survey.roots_of({str(tmp_path / "unrelated.py")})) == []


def test_groups_hold_together_what_is_connected(tmp_path: Path) -> None:
    groups: dict[str, set[str]] = {}
    for entry in surveyed(tmp_path, FILES).table.entries.values():
        groups.setdefault(entry.group, set()).add(entry.name)
    assert groups.pop("") == {"plot", "unrelated"}
    assert sorted(map(sorted, groups.values())) == [
        ["lone"],
        ["pkg", "pkg.loop", "pkg.model", "pkg.text", "pkg.words", "train"],
    ]


def group(survey: Survey, name: str) -> str:
    return next(entry.group for entry in survey.table.entries.values() if entry.name == name)


def test_a_group_is_named_after_what_resolves_its_names(tmp_path: Path) -> None:
    before = surveyed(tmp_path, FILES)
    same = surveyed(tmp_path, {"pkg/words.py": "x = 1\n"})
    assert group(same, "train") == group(before, "train")
    other_import = surveyed(tmp_path, {"pkg/words.py": "import re\n"})
    assert group(other_import, "train") != group(before, "train")
    assert group(other_import, "lone") == group(before, "lone")
    new_file = surveyed(tmp_path, {"pkg/words.py": "x = 1\n", "pkg/more.py": "import jax, pkg.words\n"})
    assert group(new_file, "train") != group(before, "train")


def test_what_is_said_anywhere(tmp_path: Path) -> None:
    assert not surveyed(tmp_path, FILES).table.names_x64
    text = "import jax.numpy as jnp\nx = jnp.zeros(3, jnp.complex64)  # of 64x64 px\n"
    assert not surveyed(tmp_path, {"other/lone.py": text}).table.names_x64
    assert surveyed(
        tmp_path, {"other/lone.py": "import jax\njax.config.jax_enable_X64 = 1\n"}
    ).table.names_x64


def test_without_a_root_names_reach_up_to_the_directory_that_was_given(tmp_path: Path) -> None:
    package = tmp_path / "given" / "space" / "package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    module = package / "module.py"
    module.write_text("import jax\n")
    project = Project("", Settings(), [str(tmp_path / "given")])
    assert Session([], project, rules=()).survey.table.entries[str(module)].names == (
        "package.module",
        "space.package.module",
    )
