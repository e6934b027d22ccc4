"""A Code Quality report of GitLab: what merge requests and pipelines show as findings, new and gone.

GitLab tells old from new by the fingerprint alone, and drops what has the fingerprint of another: it must not
change when lines shift, and no two may be the same.
"""

from __future__ import annotations

from typing import Any, TextIO

from jaxlint.finding import Severity
from jaxlint.report.evidence import verdicts
from jaxlint.report.json import write_array
from jaxlint.report.run import Run

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def write(run: Run, stream: TextIO) -> None:
    """Write the array, one finding a line. Paths are relative to the repository."""
    records: list[dict[str, Any]] = [
        {
            "description": f"{finding.code}: {' '.join(finding.message.split())}{verdicts(finding)}",
            "check_name": finding.slug,
            "fingerprint": identity.digest,
            "severity": _SEVERITIES[finding.severity],
            "location": {
                "path": identity.path,
                "lines": {"begin": finding.span.line, "end": finding.span.end_line},
            },
        }
        for finding, identity in run.identities(run.findings)
    ]
    write_array(records, stream)
