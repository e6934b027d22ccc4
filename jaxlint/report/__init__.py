"""Output formats: one module each, found by name."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from jaxlint.report.run import Run

FORMATS = (
    *("full", "concise"),
    *("json", "jsonl"),
    *("sarif", "github", "gitlab", "rdjson", "rdjsonl", "junit"),
)
# Formats that people read; the others are read by programs.
HUMAN = frozenset({"full", "concise"})


def write(run: Run, output_format: str, stream: TextIO) -> None:
    """Write the findings of a run in one of FORMATS."""
    importlib.import_module(f"jaxlint.report.{output_format}").write(run, stream)


def write_statistics(run: Run, output_format: str, stream: TextIO) -> None:
    """Write how often each code was found instead of the findings, in the spirit of one of FORMATS."""
    from jaxlint.report import statistics

    statistics.write(run, output_format, stream)
