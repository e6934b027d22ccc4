"""Exit statuses, and the lines on stderr that go with them."""

from __future__ import annotations

import sys

CLEAN = 0
FINDINGS = 1  # at least as severe as `fail-on`
FAILED = 2  # an error of the call or of ours, or a file that could not be checked
INTERRUPTED = 130


def complain(line: str) -> None:
    """One line on stderr."""
    print(f"jaxlint: {' '.join(line.split())}", file=sys.stderr)
