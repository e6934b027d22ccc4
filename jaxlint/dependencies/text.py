"""A dependency file as text."""

from __future__ import annotations

import os
from typing import NamedTuple

from jaxlint.project.files import SourceFile, shown
from jaxlint.project.source import SourceError, read_bytes


class DependencyText(NamedTuple):
    """`path` as the user is shown it, `absolute` on disk, and the content."""

    path: str
    absolute: str
    text: str


def load(file: SourceFile | str) -> DependencyText | None:
    """A file of the run, or one at a path that another file includes; None when it cannot be read as UTF-8."""
    if isinstance(file, str):
        absolute = os.path.realpath(file)
        file = SourceFile(shown(absolute), absolute)
    try:
        return DependencyText(file.path, file.absolute, read_bytes(file).decode("utf-8-sig"))
    except (SourceError, UnicodeDecodeError):
        return None
