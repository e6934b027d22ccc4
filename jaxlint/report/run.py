"""What a report is made of."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from jaxlint.columns import split_lines
from jaxlint.finding import Finding
from jaxlint.project import walk
from jaxlint.project.repository import top_of

if TYPE_CHECKING:
    from jaxlint.identity import Identity
    from jaxlint.project.files import SourceFile


class Run:
    """The findings of a run, sorted, and the files they lie in, by path.

    `status` is the exit status that the run is going to end with, `problems` are the paths and settings files
    that could not be used, a line for each. `view` says what part of the files the findings are about, "" for all
    of them.
    """

    def __init__(
        self,
        findings: Sequence[Finding],
        files: Mapping[str, SourceFile],
        *,
        status: int = 0,
        problems: Sequence[str] = (),
        view: str = "",
    ) -> None:
        self.findings = findings
        self.files = files
        self.status = status
        self.problems = problems
        self.view = view
        self._lines: dict[str, list[str]] = {}

    # ------------------------------------------------------------ sources

    def line(self, path: str, number: int) -> str | None:
        """A line of source without its end, None where it cannot be read (any more)."""
        lines = self.lines(path)
        return lines[number - 1].rstrip("\r\n") if 0 < number <= len(lines) else None

    def lines(self, path: str) -> list[str]:
        """All lines of a source, each with its end; none where it cannot be read (any more)."""
        if path not in self._lines:
            self._lines[path] = split_lines(self._text(path))
        return self._lines[path]

    def _text(self, path: str) -> str:
        from jaxlint.project.files import SourceFile
        from jaxlint.project.source import SourceError, decode, read_bytes

        file = self.files.get(path) or SourceFile(path, os.path.abspath(path))
        try:
            data = read_bytes(file)
            return decode(data)[0]
        except SourceError:
            return ""

    # ------------------------------------------------------------ paths

    @cached_property
    def root(self) -> str:
        """What paths are relative to for a host: the top of the repository, else the working directory.

        The repository is the one around the working directory, where a host runs its jobs; from outside of any
        it is the one around the files.
        """
        here = os.getcwd()
        return top_of(here) or self._top_of_files() or here

    def _top_of_files(self) -> str:
        try:
            return top_of(os.path.commonpath([os.path.dirname(f.absolute) for f in self.files.values()]))
        except ValueError:  # none at all, or on different drives
            return ""

    def relative(self, path: str) -> str:
        """A path from the root, with forward slashes; absolute where it lies elsewhere."""
        absolute = os.path.normpath(os.path.abspath(path))
        file = self.files.get(path)
        for candidate in (absolute, file.absolute if file else os.path.realpath(absolute)):
            inside = walk.relative(candidate, self.root)
            if inside is not None:
                return inside
        return absolute.replace(os.sep, "/")

    # ------------------------------------------------------------ findings

    def identities(self, findings: Iterable[Finding]) -> Iterator[tuple[Finding, Identity]]:
        """Findings with what tells each from all others, whatever is written above them."""
        from jaxlint.identity import identities

        return identities(findings, self.relative, self.line)
