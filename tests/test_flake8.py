"""The flake8 plugin: what it hands to flake8, around a made-up engine."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import made_engine
import pytest

from jaxlint import flake8, registry
from jaxlint.finding import Confidence, Finding, Place, Severity, Span
from jaxlint.flake8 import Plugin
from jaxlint.project.baseline import Baseline
from jaxlint.project.files import SourceFile


@pytest.fixture(autouse=True)
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[SourceFile]]:
    """The made-up engine in an empty directory, and the files it was given."""
    seen: list[SourceFile] = []

    def check(files: list[SourceFile], *rest: object, **options: object) -> object:
        seen.extend(files)
        return made_engine.check(files, *rest, **options)  # type: ignore[arg-type]  # options are passed on

    module = ModuleType("jaxlint.check")
    module.check = check  # type: ignore[attr-defined]  # a module made here
    monkeypatch.setitem(sys.modules, "jaxlint.check", module)
    monkeypatch.setattr(registry, "listed", lambda: made_engine.RULES)
    monkeypatch.chdir(tmp_path)
    flake8._surroundings.cache_clear()
    flake8._policy.cache_clear()
    flake8._baseline.cache_clear()
    yield seen


def plugin(source: str, filename: str = "./a.py") -> list[tuple[int, int, str]]:
    made = Plugin(ast.parse(source), filename, source.splitlines(keepends=True))
    return [(line, column, text) for line, column, text, _ in made.run()]


def test_line_from_one_and_column_from_zero() -> None:
    assert plugin("x = 1\ny = hazard103\n") == [(2, 4, "JAX103 A jit-in-loop.")]


def test_columns_count_code_points() -> None:
    assert plugin("é = '日本'; hazard103\n") == [(1, 10, "JAX103 A jit-in-loop.")]


def test_warnings_and_errors_unless_the_settings_ask_for_more() -> None:
    source = "hazard103\nhazard301\nhazard304\n"
    assert [text.split()[0] for *_, text in plugin(source)] == ["JAX103", "JAX301"]
    Path("other").mkdir()
    Path("other/jaxlint.toml").write_text("min-severity = 'info'")
    assert [text.split()[0] for *_, text in plugin(source, "other/a.py")] == ["JAX103", "JAX301", "JAX304"]


def test_the_tree_of_flake8_is_used(engine: list[SourceFile]) -> None:
    source = "x = 1\n"
    tree = ast.parse(source)
    list(Plugin(tree, "a.py", [source]).run())
    assert engine[0].tree is tree
    assert engine[0].data == b"x = 1\n"


def test_the_settings_of_the_command_line_hold() -> None:
    Path("pyproject.toml").write_text(
        "[tool.jaxlint]\nignore = ['JAX101']\nextend-exclude = ['gen']\n"
        "[tool.jaxlint.per-file-ignores]\n'test_*' = ['JAX103']\n"
    )
    Path("gen").mkdir()
    assert len(plugin("hazard103\nhazard101\n")) == 1
    assert plugin("hazard103\n", "test_a.py") == []
    assert plugin("hazard103\n", "gen/a.py") == []


def test_own_comments_work_and_noqa_is_left_to_flake8() -> None:
    assert plugin("hazard103  # jaxlint: ignore[JAX103]\n") == []
    assert len(plugin("hazard103  # noqa: JAX103\n")) == 1
    assert plugin("x = 1  # jaxlint: ignore[JAX9]\n")[0][2].startswith("JAX003 ")


def test_standard_input() -> None:
    assert plugin("hazard103\n", "stdin") == [(1, 0, "JAX103 A jit-in-loop.")]


def test_sources_in_another_encoding() -> None:
    assert plugin("# coding: latin-1\nx = 'é'; hazard103\n") == [(2, 9, "JAX103 A jit-in-loop.")]


def test_an_error_of_ours_does_not_stop_flake8() -> None:
    assert plugin("hazard000\n") == [(1, 0, "JAX000 RuntimeError: made to fail")]


def test_settings_that_cannot_be_used_are_said_in_a_line() -> None:
    Path("jaxlint.toml").write_text("slect = []")
    ((line, column, text),) = plugin("hazard103\n")
    assert (line, column) == (1, 0)
    assert text.startswith("JAX000 SettingsError: ") and "did you mean `select`?" in text


def test_a_project_file_that_cannot_be_read_is_said_in_a_line() -> None:
    Path("pyproject.toml").write_bytes(b"\xff\xfe")
    ((line, column, text),) = plugin("hazard103\n")
    assert (line, column) == (1, 0)
    assert text.startswith("JAX000 TomlError: ") and "cannot decode" in text


def test_unknown_codes_in_the_settings() -> None:
    Path("jaxlint.toml").write_text("ignore = ['JAX904']")
    ((line, column, text),) = plugin("x = 1\n")
    assert (line, column) == (1, 0)
    assert text.startswith("JAX003 jaxlint.toml: unknown rule 'JAX904'")


def test_the_baseline_of_the_settings_holds() -> None:
    Path("a.py").write_text("hazard103\nhazard101\n")
    known = Baseline(os.path.abspath("known.json"))
    file = SourceFile("a.py", os.path.realpath("a.py"))
    place = Place("a.py", Span(1, 1, 1, 10))
    known.unknown(
        file,
        [Finding("JAX103", "jit-in-loop", "", Severity.WARNING, Confidence.HIGH, place, "f")],
        {"JAX103"},
        lambda finding: True,
    )
    known.update()
    Path("jaxlint.toml").write_text("baseline = 'known.json'\n")
    assert plugin("hazard103\nhazard101\n") == [(2, 0, "JAX101 A scalar-to-filter-jit.")]
    flake8._baseline.cache_clear()
    Path("known.json").write_text("?")
    assert plugin("hazard103\n")[0][2].startswith("JAX000 BaselineError: ")


def test_nothing_of_flake8_is_imported() -> None:
    tree = ast.parse(Path(flake8.__file__).read_text())
    names = [
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    ]
    assert names and not any(name.partition(".")[0] == "flake8" for name in names)
