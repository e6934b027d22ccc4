"""A dependency file as text."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from jaxlint.finding import Place, Span
from jaxlint.project.files import SourceFile, shown
from jaxlint.project.source import SourceError, read_bytes


class DependencyText(NamedTuple):
    """A file's content. `given` are the files of the run, by absolute path.

    `included_at` is the line that includes a file which is not one of them: what it says is reported there.
    """

    path: str  # as the user is shown it
    absolute: str
    text: str
    given: Mapping[str, SourceFile]
    included_at: Place | None = None

    def place(self, line: int, column: int, end_column: int) -> Place:
        """Where something in the file is reported."""
        return self.included_at or Place(self.path, Span(line, column, line, end_column))

    def included(self, name: str, at: Place) -> DependencyText | None:
        """A file that this one names at a place."""
        absolute = os.path.realpath(os.path.join(os.path.dirname(self.absolute), name))
        given = self.given.get(absolute)
        found = load(given or SourceFile(shown(absolute), absolute), self.given)
        return found if found is None or given is not None else found._replace(included_at=at)


def load(file: SourceFile, given: Mapping[str, SourceFile]) -> DependencyText | None:
    """A file; None when it cannot be read as UTF-8."""
    try:
        return DependencyText(file.path, file.absolute, read_bytes(file).decode("utf-8-sig"), given)
    except (SourceError, UnicodeDecodeError):
        return None
