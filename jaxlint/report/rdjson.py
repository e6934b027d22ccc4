"""The Diagnostic Format of reviewdog, which posts findings and suggestions to whatever host reviews happen on.

A suggestion replaces whole lines that follow each other, since that is what a host shows as one block with a
button. Columns count UTF-8 bytes from 1, ends are exclusive.
"""

from __future__ import annotations

import json
from typing import Any, TextIO

from jaxlint.columns import to_utf8
from jaxlint.finding import Applicability, Finding, Fix, Place, Severity
from jaxlint.fix.apply import apply
from jaxlint.report.evidence import verdicts
from jaxlint.report.run import Run

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def write(run: Run, stream: TextIO) -> None:
    """Write one object with all findings, one a line."""
    rows = ",".join(f"\n    {json.dumps(diagnostic(finding, run))}" for finding in run.findings)
    end = "\n  ]" if rows else "]"
    source = json.dumps({"name": "jaxlint"})
    stream.write(f'{{\n  "source": {source},\n  "diagnostics": [{rows}{end}\n}}\n')


def diagnostic(finding: Finding, run: Run) -> dict[str, Any]:
    """A finding as a diagnostic."""
    found: dict[str, Any] = {
        "message": _message(finding),
        "location": {"path": finding.path, "range": _range(finding.place, run)},
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code},
    }
    if finding.fix is not None and finding.fix.applicability is not Applicability.DISPLAY:
        suggestion = _suggestion(finding.fix, run.lines(finding.path))
        if suggestion is not None:
            found["suggestions"] = [suggestion]
    return found


def _message(finding: Finding) -> str:
    """The message, and below it the places that explain it.

    The format has a field for them by now, but a reviewdog that does not know it refuses the whole report.
    """
    where = (
        f"{related.message}: {related.place.path}:{related.place.span.line}" for related in finding.related
    )
    message = " ".join(finding.message.split()) + verdicts(finding)
    return "\n".join((message, *(f"- {' '.join(line.split())}" for line in where)))


def _range(place: Place, run: Run) -> dict[str, Any]:
    span = place.span
    return {
        "start": {"line": span.line, "column": _column(place.path, span.line, span.column, run)},
        "end": {"line": span.end_line, "column": _column(place.path, span.end_line, span.end_column, run)},
    }


def _column(path: str, line: int, column: int, run: Run) -> int:
    source = run.line(path, line)
    return column if source is None else to_utf8(source, column) + 1


def _suggestion(fix: Fix, lines: list[str]) -> dict[str, Any] | None:
    """The fix as new text for the lines that it touches; None where the source is not there any more."""
    first, last = fix.lines
    last = min(last, len(lines))
    if not 0 < first <= last:
        return None
    try:
        changed = apply("".join(lines), fix.edits)
    except (ValueError, IndexError):
        return None
    before, after = sum(map(len, lines[: first - 1])), sum(map(len, lines[last:]))
    text = changed[before : len(changed) - after]
    # Whoever reads it puts a "\n" behind each line: the "\r" of a "\r\n" belongs to the line, to the last one, too.
    if text.endswith(("\n", "\r")):
        text = text[:-1]
    return {"range": {"start": {"line": first}, "end": {"line": last}}, "text": text}
