"""One JSON object a line, the same as in the array of the format json."""

from __future__ import annotations

import json
from typing import TextIO

from jaxlint.report.json import record
from jaxlint.report.run import Run


def write(run: Run, stream: TextIO) -> None:
    """Write a line per finding."""
    for finding in run.findings:
        stream.write(json.dumps(record(finding)) + "\n")
