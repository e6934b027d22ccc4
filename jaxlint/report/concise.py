"""One line per finding, in the form that editors and log parsers know: `path:line:column: CODE message`."""

from __future__ import annotations

from typing import TextIO

from jaxlint.finding import Finding
from jaxlint.report.evidence import verdicts
from jaxlint.report.run import Run


def line(finding: Finding) -> str:
    """The finding on one line."""
    span = finding.span
    message = " ".join(finding.message.split())
    return (
        f"{on_one_line(finding.path)}:{span.line}:{span.column}: {finding.code} {message}{verdicts(finding)}"
    )


def on_one_line(path: str) -> str:
    """A path without what would break a line or change a terminal; names of files may hold anything."""
    return path if path.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in path)


def write(run: Run, stream: TextIO) -> None:
    """Write a line per finding."""
    for finding in run.findings:
        stream.write(line(finding) + "\n")
