"""One diagnostic a line, the same as in the object of the format rdjson."""

from __future__ import annotations

import json
from typing import TextIO

from jaxlint.report.rdjson import diagnostic
from jaxlint.report.run import Run


def write(run: Run, stream: TextIO) -> None:
    """Write a line per finding."""
    for finding in run.findings:
        stream.write(json.dumps({**diagnostic(finding, run), "source": {"name": "jaxlint"}}) + "\n")
