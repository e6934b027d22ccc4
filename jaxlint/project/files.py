"""Which files a run looks at."""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to check.

    `path` is what the user is shown: relative to the working directory when below it, else absolute, with
    forward slashes. `absolute` is the real path on disk. `data` is its content where somebody hands it over
    (standard input, flake8), else None: it is read when it is needed. `tree` is the host's own syntax tree
    of that content, if it has one.
    """

    path: str
    absolute: str
    data: bytes | None = None
    tree: ast.Module | None = None
