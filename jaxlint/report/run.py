"""What a report is made of."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jaxlint.columns import split_lines
from jaxlint.finding import Finding

if TYPE_CHECKING:
    from jaxlint.project.files import SourceFile


class Run:
    """The findings of a run, sorted, and the files they lie in, by path."""

    def __init__(self, findings: Sequence[Finding], files: Mapping[str, SourceFile]) -> None:
        self.findings = findings
        self.files = files
        self._lines: dict[str, list[str]] = {}

    def line(self, path: str, number: int) -> str | None:
        """A line of source without its end, None where it cannot be read (any more)."""
        if path not in self._lines:
            self._lines[path] = split_lines(self._text(path))
        lines = self._lines[path]
        return lines[number - 1].rstrip("\r\n") if 0 < number <= len(lines) else None

    def _text(self, path: str) -> str:
        from jaxlint.project.files import SourceFile
        from jaxlint.project.source import SourceError, decode, read_bytes

        file = self.files.get(path) or SourceFile(path, os.path.abspath(path))
        try:
            data = read_bytes(file)
            return decode(data)[0]
        except SourceError:
            return ""
