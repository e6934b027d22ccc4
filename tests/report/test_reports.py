"""Output formats: the same findings for people, for editors and for programs."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from jaxlint import report
from jaxlint.confirm.verdict import Outcome, Verdict
from jaxlint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span
from jaxlint.project.files import SourceFile
from jaxlint.record import replace
from jaxlint.report.run import Run

SOURCE = """\
import jax

for i in range(3):
\tf = jax.jit(lambda x: x + i)
\tprint('日本', f(i), f(
\t\ti))
"""
LOOP = Related(Place("a.py", Span(3, 1, 6, 6)), "the loop")
FIX = Fix("Move the call out of the loop", Applicability.UNSAFE, (Edit(Span(4, 6, 4, 30), "step"),))
FINDING = Finding(
    code="JAX103",
    slug="jit-in-loop",
    message="`f` is compiled again in each iteration. Move it out of the loop.",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    place=Place("a.py", Span(4, 6, 4, 30)),
    symbol="main",
    related=(LOOP,),
    fix=FIX,
)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def written(
    output_format: str, *findings: Finding, source: str = SOURCE, stream: io.StringIO | None = None
) -> str:
    stream = io.StringIO() if stream is None else stream
    run = Run(findings, {"a.py": SourceFile("a.py", "/nowhere/a.py", source.encode())})
    report.write(run, output_format, stream)
    return stream.getvalue()


@pytest.mark.parametrize("output_format", report.FORMATS)
def test_what_was_measured_is_in_every_format(output_format: str) -> None:
    verdict = Verdict(Outcome.CONFIRMED, "cuda:h100", "30,578 MiB as written, 61 MiB as fixed")
    text = written(output_format, replace(FINDING, confirm=(verdict,)))
    assert "confirmed" in text
    assert "30,578 MiB as written, 61 MiB as fixed" in text


# ---------------------------------------------------------------- concise


def test_concise() -> None:
    assert written("concise", FINDING) == f"a.py:4:6: JAX103 {FINDING.message}\n"
    assert written("concise", replace(FINDING, message="one\n  two")) == "a.py:4:6: JAX103 one two\n"


@pytest.mark.parametrize("output_format", ["concise", "full"])
def test_a_path_that_would_break_the_line(output_format: str) -> None:
    found = replace(FINDING, place=Place("a\nb\x1b\udce9日.py", Span(1, 1, 1, 2)), related=())
    assert written(output_format, found).startswith("a\\nb\\x1b\\udce9日.py:1:1: JAX103")


# ---------------------------------------------------------------- json


def test_json() -> None:
    assert json.loads(written("json", FINDING)) == [
        {
            "code": "JAX103",
            "slug": "jit-in-loop",
            "message": FINDING.message,
            "severity": "warning",
            "confidence": "high",
            "path": "a.py",
            "start": {"line": 4, "column": 6},
            "end": {"line": 4, "column": 30},
            "symbol": "main",
            "related": [
                {
                    "path": "a.py",
                    "start": {"line": 3, "column": 1},
                    "end": {"line": 6, "column": 6},
                    "message": "the loop",
                }
            ],
            "fix": {
                "title": "Move the call out of the loop",
                "applicability": "unsafe",
                "edits": [
                    {"start": {"line": 4, "column": 6}, "end": {"line": 4, "column": 30}, "text": "step"}
                ],
            },
            "confirm": None,
        }
    ]


def test_json_without_fix_or_findings() -> None:
    assert json.loads(written("json", replace(FINDING, fix=None)))[0]["fix"] is None
    assert json.loads(written("json")) == []


def test_jsonl_has_the_same_objects() -> None:
    lines = written("jsonl", FINDING, FINDING).splitlines()
    assert [json.loads(line) for line in lines] == json.loads(written("json", FINDING, FINDING))


# ---------------------------------------------------------------- full


def test_full() -> None:
    assert written("full", FINDING).splitlines() == [
        "a.py:4:6: JAX103 `f` is compiled again in each iteration. Move it out of the loop.",
        "4 |     f = jax.jit(lambda x: x + i)",
        "  |         ^^^^^^^^^^^^^^^^^^^^^^^^",
        "3 | for i in range(3):",
        "  | ------------------ the loop",
        "  = warning: jit-in-loop (high confidence); unsafe fix: Move the call out of the loop",
        "",
        "1 finding (1 warning) in 1 file.",
        "Fixable with --fix --unsafe-fixes: 1.",
    ]


def test_full_marks_the_cells_of_a_terminal() -> None:
    lines = written(
        "full", replace(FINDING, place=Place("a.py", Span(5, 14, 5, 18)), related=())
    ).splitlines()
    assert lines[1:3] == ["5 |     print('日本', f(i), f(", "  |                   ^^^^"]


def test_full_marks_the_first_line_of_several() -> None:
    lines = written("full", replace(FINDING, place=Place("a.py", Span(5, 20, 6, 5)), related=())).splitlines()
    assert lines[1:3] == ["5 |     print('日本', f(i), f(", "  |                         ^^"]


def test_full_has_a_mark_even_for_nothing() -> None:
    lines = written("full", replace(FINDING, place=Place("a.py", Span(2, 1, 2, 1)), related=())).splitlines()
    assert lines[1:3] == ["2 | ", "  | ^"]


def test_full_names_the_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("b.py").write_text("\n\n@jax.jit\n")
    related = (
        Related(Place("b.py", Span(3, 2, 3, 9)), "jitted here"),
        Related(Place("gone.py", Span(12, 1, 12, 2)), "called here"),
    )
    assert written("full", replace(FINDING, related=related, fix=None)).splitlines()[3:8] == [
        "  ::: b.py:3:2",
        " 3 | @jax.jit",
        "   |  ------- jitted here",
        "  ::: gone.py:12:1",
        "   | line 12: called here",
    ]


def test_full_shows_a_part_of_a_very_long_line() -> None:
    source = "x = [" + "0, " * 5_000 + "y]\n"
    place = Place("a.py", Span(1, len(source) - 2, 1, len(source) - 1))
    line, mark = written("full", replace(FINDING, place=place, related=()), source=source).splitlines()[1:3]
    assert len(line) < 200
    assert line[mark.index("^")] == "y"


def test_full_does_not_let_a_source_steer_the_terminal() -> None:
    source = "x = '\x1b[31m'; y = jit(f)\n"
    place = Place("a.py", Span(1, 18, 1, 24))
    text = written("full", replace(FINDING, place=place, related=()), source=source)
    assert "\x1b" not in text
    line, mark = text.splitlines()[1:3]
    assert line[mark.index("^") :] == "jit(f)"


def test_full_counts_by_severity() -> None:
    error, info = replace(FINDING, severity=Severity.ERROR), replace(FINDING, severity=Severity.INFO)
    assert "\n4 findings (2 errors, 1 warning, 1 info) in 1 file.\n" in written(
        "full", error, error, FINDING, info
    )
    assert written("full") == "No findings in 1 file.\n"


def test_colours_only_on_a_terminal_that_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    plain = written("full", FINDING)
    assert "\x1b" not in plain
    coloured = written("full", FINDING, stream=Terminal())
    assert "\x1b[" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert written("full", FINDING, stream=Terminal()) == plain
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert written("full", FINDING, stream=Terminal()) == plain


# ---------------------------------------------------------------- statistics


def test_statistics_are_sorted_by_count() -> None:
    other = replace(FINDING, code="JAX101", slug="scalar-to-filter-jit")
    stream = io.StringIO()
    report.write_statistics(Run([other, *[FINDING] * 10], {}), "full", stream)
    assert stream.getvalue() == "10  JAX103  jit-in-loop\n 1  JAX101  scalar-to-filter-jit\n"
