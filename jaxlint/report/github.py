"""Workflow commands of GitHub Actions: each finding becomes an annotation beside the code.

GitHub shows ten annotations of each type for a step and drops the rest without a word. So the worst come first,
and where there are more a notice says so. The job's summary has them all, as far as it takes them.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import TextIO

from jaxlint.cli import status
from jaxlint.finding import Finding, Severity
from jaxlint.report.evidence import verdicts
from jaxlint.report.run import Run

SHOWN = 10  # annotations of each type, for one step
_ROWS = 500  # of the table in the summary, which is cut off as a whole at 1 MiB
_CODE = re.compile(r"(?<!`)(`+)(?!`).*?[^`]\1(?!`)")
_MARKUP = re.compile(r"[&<>\\*_~\[\]]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def write(run: Run, stream: TextIO) -> None:
    """Write an annotation a line, and the table to the file that GITHUB_STEP_SUMMARY names."""
    worst = sorted(run.findings, key=lambda each: (-each.severity.rank, -each.confidence.rank, each.place))
    notices = [finding for finding in worst if finding.severity is Severity.INFO]
    for finding in worst[: len(worst) - len(notices)]:
        stream.write(_annotation(finding, run))
    # Before the other notices, since it counts as one of them.
    hidden = _hidden(worst)
    if hidden:
        stream.write(f"::notice title=jaxlint::{_data(hidden)}\n")
    for finding in notices:
        stream.write(_annotation(finding, run))
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        _write_summary(worst, run, summary)


def _annotation(finding: Finding, run: Run) -> str:
    span = finding.span
    properties = {"file": run.relative(finding.path), "line": span.line, "endLine": span.end_line}
    if span.line == span.end_line:  # columns of several lines make GitHub refuse the annotation
        properties |= {"col": span.column, "endColumn": span.end_column}
    properties["title"] = f"{finding.code} {finding.slug}"
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(finding.message + verdicts(finding))}\n"


def _hidden(findings: Sequence[Finding]) -> str:
    """What the limit on annotations keeps from being seen, "" for nothing."""
    counts = Counter(_COMMANDS[finding.severity] for finding in findings)
    over = {kind: counts[kind] - SHOWN for kind in ("error", "warning") if counts[kind] > SHOWN}
    room = SHOWN - 1 if over or counts["notice"] > SHOWN else SHOWN  # what says so is a notice itself
    if counts["notice"] > room:
        over["notice"] = counts["notice"] - room
    parts = [f"{count} more {kind}{'' if count == 1 else 's'}" for kind, count in over.items()]
    shown = f"GitHub shows {SHOWN} annotations of each type for a step."
    return f"{shown} The log has {' and '.join(parts)}." if parts else ""


def _data(text: str) -> str:
    """A message as a workflow command takes it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# ---------------------------------------------------------------- the summary of the job


def _write_summary(findings: Sequence[Finding], run: Run, path: str) -> None:
    try:
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(_table(findings, run))
    except OSError as error:
        status.complain(f"{path}: cannot write the summary: {error.strerror}")


def _table(findings: Sequence[Finding], run: Run) -> str:
    if not findings:
        return "### jaxlint\n\nNo findings.\n"
    lines = ["### jaxlint", "", "| severity | where | code | finding |", "|---|---|---|---|"]
    for finding in findings[:_ROWS]:
        where = f"{run.relative(finding.path)}:{finding.span.line}"
        message = finding.message + verdicts(finding)
        cells = (finding.severity.value, where, f"{finding.code} {finding.slug}", message)
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    if len(findings) > _ROWS:
        lines += ["", f"And {len(findings) - _ROWS} more."]
    return "\n".join((*lines, ""))


def _cell(text: str) -> str:
    """Text on one line of a Markdown table; what stands between backticks stays code, where nothing is decoded."""
    text, at, pieces = " ".join(text.split()), 0, []
    for code in _CODE.finditer(text):
        pieces += [_MARKUP.sub(_literal, text[at : code.start()]), code[0]]
        at = code.end()
    pieces.append(_MARKUP.sub(_literal, text[at:]))
    return "".join(pieces).replace("|", "\\|")  # of the table, so it holds in code, too


def _literal(found: re.Match[str]) -> str:
    return _ENTITIES.get(found[0], f"\\{found[0]}")
