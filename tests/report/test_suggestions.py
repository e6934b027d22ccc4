"""Suggestions to read, and what the report says about the others."""

from __future__ import annotations

import io

from jaxlint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Severity, Span
from jaxlint.project.files import SourceFile
from jaxlint.report import full
from jaxlint.report.run import Run

SOURCE = "import jax\n\n\ndef f(x):\n    return g(x,\n             1)\n"


def shown(*kinds: Applicability) -> list[str]:
    """The report on findings with a fix of each of these kinds, which spans two lines."""
    span = Span(5, 14, 6, 15)
    edits = (Edit(span, "x, 2)\n    # so"), Edit(Span(3, 1, 3, 1), "y = 1\n"))
    place = Place("a.py", span)
    findings = [
        Finding(
            "JAX901",
            "made-up",
            "Made up.",
            Severity.WARNING,
            Confidence.HIGH,
            place,
            fix=Fix("Say so", kind, edits),
        )
        for kind in kinds
    ]
    stream = io.StringIO()
    full.write(Run(findings, {"a.py": SourceFile("a.py", "/a.py", SOURCE.encode())}), stream)
    return stream.getvalue().splitlines()


def test_a_suggestion_shows_what_would_become_of_the_lines() -> None:
    lines = shown(Applicability.DISPLAY)
    assert "  = warning: made-up (high confidence); display fix: Say so" in lines
    start = lines.index("  = warning: made-up (high confidence); display fix: Say so") + 1
    assert lines[start : start + 5] == [
        "  + y = 1",
        "5 -     return g(x,",
        "6 -              1)",
        "  +     return g(x, 2)",
        "  +     # so)",
    ]
    assert not any("Fixable" in line for line in lines)


def test_what_can_be_made_is_counted() -> None:
    safe, unsafe = Applicability.SAFE, Applicability.UNSAFE
    assert shown(safe, safe)[-1] == "Fixable with --fix: 2."
    assert shown(unsafe)[-1] == "Fixable with --fix --unsafe-fixes: 1."
    assert shown(safe, unsafe, safe)[-1] == "Fixable with --fix: 2; with --fix --unsafe-fixes: 3."
    assert not any(line.startswith(("5 -", "  +")) for line in shown(safe, unsafe))
