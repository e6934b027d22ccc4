"""Annotations of GitHub Actions, read back the way the runner reads them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from made_runs import ODD, SOURCE, a_run, finding, written

from jaxlint.finding import Confidence, Finding, Severity, Span
from jaxlint.report.run import Run


class Annotation(NamedTuple):
    kind: str
    properties: dict[str, str]
    message: str


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return tmp_path


def annotations(run: Run) -> list[Annotation]:
    found = []
    for line in written(run, "github").split("\n")[:-1]:
        match = re.fullmatch(r"::(error|warning|notice) ([^:\r]*)::([^\r]*)", line)
        assert match, line
        pairs = (pair.partition("=") for pair in match[2].split(","))
        found.append(
            Annotation(match[1], {key: decoded(value) for key, _, value in pairs}, decoded(match[3]))
        )
    return found


def decoded(text: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


def several(severity: Severity, number: int) -> list[Finding]:
    return [finding(span=Span(n, 1, n, 2), severity=severity) for n in range(1, number + 1)]


@pytest.mark.parametrize("name", ODD)
def test_every_line_is_a_command(name: str) -> None:
    run = ODD[name]()
    found = [each for each in annotations(run) if each.properties["title"] != "jaxlint"]
    assert sorted(each.message for each in found) == sorted(f.message for f in run.findings)
    assert {each.properties["file"] for each in found} == {run.relative(f.path) for f in run.findings}


def test_an_annotation() -> None:
    [found] = annotations(a_run(finding(message="50%: a,\nb"), **{"a.py": SOURCE}))
    place = {"file": "a.py", "line": "4", "endLine": "4", "col": "6", "endColumn": "30"}
    assert found == Annotation("warning", {**place, "title": "JAX103 jit-in-loop"}, "50%: a,\nb")


def test_several_lines_have_no_columns() -> None:
    [found] = annotations(a_run(finding(span=Span(3, 1, 4, 2)), **{"a.py": SOURCE}))
    assert found.properties.keys() == {"file", "line", "endLine", "title"}


def test_the_worst_come_first() -> None:
    run = a_run(
        finding(severity=Severity.INFO),
        finding(confidence=Confidence.LOW),
        finding(span=Span(5, 1, 5, 2)),
        finding(severity=Severity.ERROR, confidence=Confidence.LOW),
        finding(span=Span(2, 1, 2, 2)),
    )
    order = [(each.kind, each.properties["line"]) for each in annotations(run)]
    assert order == [("error", "4"), ("warning", "2"), ("warning", "5"), ("warning", "4"), ("notice", "4")]


@pytest.mark.parametrize(
    ("errors", "warnings", "notices", "said"),
    [
        (10, 10, 10, None),
        (10, 10, 9, None),
        (0, 12, 0, "2 more warnings."),
        (11, 12, 0, "1 more error and 2 more warnings."),
        (0, 0, 11, "2 more notices."),
        (11, 0, 10, "1 more error and 1 more notice."),
        (11, 0, 9, "1 more error."),
    ],
)
def test_what_the_limit_hides_is_said(errors: int, warnings: int, notices: int, said: str | None) -> None:
    run = a_run(
        *several(Severity.ERROR, errors),
        *several(Severity.WARNING, warnings),
        *several(Severity.INFO, notices),
    )
    found = annotations(run)
    summaries = [each for each in found if each.properties == {"title": "jaxlint"}]
    assert [each.message.partition("The log has ")[2] for each in summaries] == ([said] if said else [])
    if summaries:  # it is among the notices that are shown
        assert [each.kind for each in found].index("notice") == found.index(summaries[0])


def test_the_summary_of_the_job(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = repository / "summary.md"
    path.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    written(a_run(finding(message="a | <b>\n`c`"), **{"a.py": SOURCE}), "github")
    assert path.read_text() == (
        "before\n### jaxlint\n\n| severity | where | code | finding |\n|---|---|---|---|\n"
        "| warning | a.py:4 | JAX103 jit-in-loop | a \\| &lt;b&gt; `c` |\n"
    )
    written(a_run(status=0), "github")
    assert path.read_text().endswith("### jaxlint\n\nNo findings.\n")


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("`v < 3 & v` < 3 & v", "`v < 3 & v` &lt; 3 &amp; v"),
        ("``a ` < b`` < `c", "``a ` < b`` &lt; `c"),
        ("`a | b`", "`a \\| b`"),
        ("`__init__` of __init__ is [it](1)", "`__init__` of \\_\\_init\\_\\_ is \\[it\\](1)"),
        ("2 * x, `2 * x`", "2 \\* x, `2 * x`"),
    ],
)
def test_code_in_the_summary_is_as_it_is(
    text: str, cell: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In code spans Markdown decodes nothing; elsewhere what would be markup is text."""
    path = repository / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    written(a_run(finding(message=text), **{"a.py": SOURCE}), "github")
    assert path.read_text().splitlines()[-1] == f"| warning | a.py:4 | JAX103 jit-in-loop | {cell} |"


def test_a_long_summary_is_cut(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = repository / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    written(a_run(*several(Severity.WARNING, 700)), "github")
    text = path.read_text()
    assert text.count("| warning |") == 500 and text.endswith("\nAnd 200 more.\n")


def test_a_summary_that_cannot_be_written(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(repository / "no" / "summary.md"))
    assert len(annotations(a_run(finding(), **{"a.py": SOURCE}))) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("name", ODD)
def test_the_summary_of_anything(name: str, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = repository / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    run = ODD[name]()
    written(run, "github")
    rows = [line for line in path.read_text().splitlines() if line.startswith("| ")][1:]
    assert len(rows) == len(run.findings)
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 5 for row in rows)
