"""requirements.txt: one requirement a line, options, and other files that it includes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jaxlint.columns import split_lines
from jaxlint.dependencies.requirement import requirement
from jaxlint.dependencies.text import DependencyText
from jaxlint.finding import Place, Span
from jaxlint.flow.facts import DependencySet, Proof, Requirement

_DEPTH = 6  # of files that include files
_COMMENT = re.compile(r"(^|\s)#.*$")
_OPTION = re.compile(
    r"(-r|--requirement|-c|--constraint|-i|--index-url|--extra-index-url|-f|--find-links)(?:\s*=\s*|\s+|(?<=-\w))(\S+)"
)
_PER_LINE = re.compile(
    r"\s--[a-z][\w-]*(\s*=\s*|\s+)?.*$"
)  # `--hash=...` and other options of one requirement


def read(text: DependencyText) -> list[DependencySet]:
    """The one environment of a requirements file, the files it includes with it."""
    reader = Reader()
    reader.file(text)
    return reader.environment(text.path)


class Reader:
    """Collects what lines ask for. A conda environment's `pip:` part is such lines, too."""

    def __init__(self) -> None:
        self.requirements: list[Requirement] = []
        self.indexes: list[str] = []
        self._seen: set[str] = set()

    def environment(self, path: str) -> list[DependencySet]:
        """What was read as one environment; nothing where nothing was asked for."""
        if not self.requirements:
            return []
        own = [r.place for r in self.requirements if r.place.path == path]
        place = own[0] if own else Place(path, Span(1, 1, 1, 1))
        return [
            DependencySet(
                place, "", Proof("eager"), "", tuple(self.requirements), indexes=tuple(self.indexes)
            )
        ]

    def file(self, text: DependencyText, *, constraint: bool = False, depth: int = 0) -> None:
        """Read a whole file."""
        if text.absolute in self._seen or depth > _DEPTH:
            return
        self._seen.add(text.absolute)
        for number, column, line in _logical_lines(text.text):
            self.line(line, text, number, column, constraint=constraint, depth=depth)

    def line(
        self,
        line: str,
        text: DependencyText,
        number: int,
        column: int,
        *,
        constraint: bool = False,
        depth: int = 0,
    ) -> None:
        """Read one line that stands at a line and column of a file."""
        option = _OPTION.match(line)
        if option is not None:
            at = text.place(number, column, column + len(line))
            self._option(option[1], option[2].strip("'\""), text, at, constraint, depth)
            return
        if line.startswith("-"):
            return
        asked = _PER_LINE.sub("", line).rstrip()
        found = requirement(asked, text.place(number, column, column + len(asked)), constraint=constraint)
        if found is not None:
            self.requirements.append(found)

    def _option(
        self, option: str, value: str, text: DependencyText, at: Place, constraint: bool, depth: int
    ) -> None:
        if option in ("-r", "--requirement", "-c", "--constraint"):
            included = text.included(value, at)
            if included is not None:
                limits = constraint or option in ("-c", "--constraint")
                self.file(included, constraint=limits, depth=depth + 1)
        else:
            self.indexes.append(value)


def _logical_lines(text: str) -> Iterator[tuple[int, int, str]]:
    """(line, column, text) of each line without its comment, continued ones joined."""
    pending, begin, column = "", 0, 1
    for number, raw in enumerate(split_lines(text), start=1):
        line = _COMMENT.sub("", raw.rstrip("\r\n"))
        if not pending:
            begin, column = number, len(line) - len(line.lstrip()) + 1
        continued = line.rstrip().endswith("\\")
        pending += line.rstrip().removesuffix("\\") + (" " if continued else "")
        if not continued:
            if pending.strip():
                yield begin, column, pending.strip()
            pending = ""
    if pending.strip():
        yield begin, column, pending.strip()
