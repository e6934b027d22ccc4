"""Baselines: what is known is not reported, what is new is, and what has gone is spoken of."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from jaxlint.cli import main

LOOP = """\
import jax


def {name}():
    for i in range(100):
        f = jax.jit(lambda x: x + i)
        f(1.0)


{name}()
"""


class Project:
    """A directory, and the command line in it."""

    def __init__(self, top: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.top = top
        self._capsys = capsys

    def write(self, name: str, text: str) -> None:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def __call__(self, *arguments: str) -> tuple[int, list[str], list[str]]:
        """Exit status, findings as file, line and code, and what was said on stderr."""
        status = main([*arguments, "--output-format", "concise"])
        out, err = self._capsys.readouterr()
        found = [" ".join(line.split(" ", 2)[:2]).replace(":", " ", 1) for line in out.splitlines()]
        return status, [f"{item.split(':')[0]} {item.split(' ')[-1]}" for item in found], err.splitlines()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    monkeypatch.chdir(tmp_path)
    made = Project(tmp_path, capsys)
    made.write("pyproject.toml", "[project]\nname = 'p'\n")
    made.write("one.py", LOOP.format(name="first"))
    made.write("below/two.py", LOOP.format(name="second"))
    return made


KNOWN = ("--baseline", "known.json")


def test_what_is_known_is_not_reported(project: Project) -> None:
    assert project(".")[0] == 1
    assert project(".", *KNOWN, "--update-baseline") == (0, [], ["jaxlint: known.json: 2 entries written"])
    assert project(".", *KNOWN) == (0, [], [])
    project.write("three.py", LOOP.format(name="third"))
    assert project(".", *KNOWN) == (1, ["three.py 6 JAX103"], [])


def test_lines_may_shift_and_be_indented(project: Project) -> None:
    project(".", *KNOWN, "--update-baseline")
    text = LOOP.format(name="first").replace("        ", "          ")
    project.write("one.py", "\n# new\n" + text)
    assert project(".", *KNOWN) == (0, [], [])


def test_the_same_line_once_more_is_new(project: Project) -> None:
    project(".", *KNOWN, "--update-baseline")
    again = "        f = jax.jit(lambda x: x + i)\n        f(1.0)\n"
    project.write("one.py", LOOP.format(name="first").replace(again, again + again))
    assert project(".", *KNOWN)[:2] == (1, ["one.py 8 JAX103"])


def test_it_does_not_matter_where_a_run_begins(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project(".", *KNOWN, "--update-baseline")
    monkeypatch.chdir(project.top / "below")
    assert project(".", "--baseline", "../known.json") == (0, [], [])
    monkeypatch.chdir("/")
    assert project(str(project.top), "--baseline", str(project.top / "known.json")) == (0, [], [])


def test_the_file_is_sorted_one_entry_a_line_and_the_same_again(project: Project) -> None:
    project(".", *KNOWN, "--update-baseline")
    text = (project.top / "known.json").read_text()
    entries = json.loads(text)["findings"]
    assert [entry["path"] for entry in entries] == ["below/two.py", "one.py"]
    assert entries[1].keys() == {"path", "code", "symbol", "line", "occurrence"}
    assert (entries[1]["code"], entries[1]["symbol"], entries[1]["occurrence"]) == ("JAX103", "first", 1)
    assert sum('"path"' in line for line in text.splitlines()) == 2
    project(".", *KNOWN, "--update-baseline")
    assert (project.top / "known.json").read_text() == text


def test_what_has_gone_is_spoken_of(project: Project) -> None:
    project(".", *KNOWN, "--update-baseline")
    project.write("one.py", "import jax\n")
    status, found, said = project(".", *KNOWN)
    assert (status, found) == (0, [])
    assert said == [
        "jaxlint: known.json: 1 entry is stale (one.py JAX103); --update-baseline removes what no longer occurs"
    ]
    (project.top / "below" / "two.py").unlink()
    assert "2 entries are stale (below/two.py JAX103, one.py JAX103)" in project(".", *KNOWN)[2][0]
    project(".", *KNOWN, "--update-baseline")
    assert json.loads((project.top / "known.json").read_text()) == {"version": 1, "findings": []}


@pytest.mark.parametrize(
    "options",
    [
        ["one.py"],
        [".", "--select", "JAX4"],
        [".", "--min-severity", "error"],
        [".", "--min-confidence", "high"],
    ],
)
def test_what_was_not_looked_for_is_not_stale_and_is_kept(options: list[str], project: Project) -> None:
    project(".", *KNOWN, "--update-baseline")
    before = (project.top / "known.json").read_text()
    assert project(*options, *KNOWN) == (0, [], [])
    project(*options, *KNOWN, "--update-baseline")
    assert (project.top / "known.json").read_text() == before


def test_a_file_that_fails_keeps_its_entries(project: Project) -> None:
    project(".", *KNOWN, "--update-baseline")
    before = (project.top / "known.json").read_text()
    project.write("one.py", "import jax\ndef (\n")
    status, found, _ = project(".", *KNOWN, "--update-baseline")
    assert (status, found) == (2, ["one.py 2 JAX001"])
    assert (project.top / "known.json").read_text() == before


def test_in_the_settings(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("jaxlint.toml", "baseline = 'lint/known.json'\n")
    status, _, [said] = project(".")
    assert status == 2 and "lint/known.json: there is no such baseline" in said
    (project.top / "lint").mkdir()
    assert project(".", "--update-baseline")[0] == 0
    assert project(".") == (0, [], [])
    assert [e["path"] for e in json.loads((project.top / "lint/known.json").read_text())["findings"]] == [
        "below/two.py",
        "one.py",
    ]
    monkeypatch.chdir(project.top / "below")
    assert project("two.py") == (0, [], [])


def test_the_settings_below_have_their_own(project: Project) -> None:
    project.write("below/jaxlint.toml", "baseline = 'known.json'\n")
    project(".", *KNOWN, "--update-baseline")  # for everything: the command line wins
    assert not (project.top / "below" / "known.json").exists()
    (project.top / "known.json").rename(project.top / "below" / "known.json")
    assert project(".")[:2] == (1, ["below/two.py 6 JAX103", "one.py 6 JAX103"])
    project("below", "--update-baseline")
    assert project(".")[:2] == (1, ["one.py 6 JAX103"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a baseline"),
        ("[]", 'it has no "findings"'),
        ('{"version": 2, "findings": []}', "its version is 2"),
        ('{"version": 1, "findings": {}}', '"findings" is no list'),
        ('{"version": 1, "findings": [{"path": "a.py"}]}', "entry 1 is not made of path, code"),
        ('{"version": 1, "findings": [1]}', "entry 1"),
        ('{"version": 1, "findings": [' + "[" * 100_000, "not a baseline"),
        ("\xff", "not a baseline"),
    ],
)
def test_damage_is_one_line(text: str, message: str, project: Project) -> None:
    (project.top / "known.json").write_bytes(text.encode("latin-1"))
    for options in ([], ["--update-baseline"]):
        status, found, said = project(".", *KNOWN, *options)
        assert (status, found, len(said)) == (2, [], 1)
        assert message in said[0] and "known.json" in said[0]
    assert (project.top / "known.json").read_bytes() == text.encode("latin-1")


def test_other_mistakes(project: Project) -> None:
    assert "no such baseline" in project(".", "--baseline", "missing.json")[2][0]
    assert "--update-baseline needs --baseline" in project(".", "--update-baseline")[2][0]
    assert "exclude each other" in project(".", *KNOWN, "--update-baseline", "--add-ignore")[2][0]
    assert "exclude each other" in project(".", *KNOWN, "--update-baseline", "--fix")[2][0]
    os.mkdir("dir.json")
    assert "cannot read" in project(".", "--baseline", "dir.json")[2][0]
    status, _, said = project(".", "--baseline", "no/where/known.json", "--update-baseline")
    assert status == 2 and "cannot write" in said[0]
