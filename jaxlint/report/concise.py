"""One line per finding, in the form that editors and log parsers know: `path:line:column: CODE message`."""

from __future__ import annotations

from typing import TextIO

from jaxlint.finding import Finding
from jaxlint.report.run import Run


def line(finding: Finding) -> str:
    """The finding on one line."""
    span = finding.span
    message = " ".join(finding.message.split())
    return f"{finding.path}:{span.line}:{span.column}: {finding.code} {message}"


def write(run: Run, stream: TextIO) -> None:
    """Write a line per finding."""
    for finding in run.findings:
        stream.write(line(finding) + "\n")
