"""Which files a run looks at."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from jaxlint.dependencies.names import is_dependency_name
from jaxlint.project import walk
from jaxlint.record import record

if TYPE_CHECKING:
    from jaxlint.project.root import Project

_GLOB = frozenset("*?[")


@record
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


class Discovery:
    """The files that some paths stand for, each once.

    `named` are the real paths of those that were named one by one: `exclude` does not concern them unless
    `force-exclude` says so. `problems` has a line for each path that leads to nothing.
    """

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.named: set[str] = set()
        self._found: dict[str, SourceFile] = {}

    @property
    def files(self) -> list[SourceFile]:
        """Sorted by path."""
        return sorted(self._found.values(), key=lambda file: file.path)

    def add(self, file: SourceFile, *, named: bool) -> None:
        """Take a file, unless it is there under another name already."""
        self._found.setdefault(file.absolute, file)
        if named:
            self.named.add(file.absolute)


def discover(paths: Iterable[str], project: Project, given: Iterable[SourceFile] = ()) -> Discovery:
    """Find the files that paths (files, directories, patterns with `*`) stand for.

    Files that were handed over stand before those of the same path on disk.

    Directories are searched for .py and .pyi files and for dependency files; a file that is named is taken as
    what its suffix says, and as Python where that says nothing.
    """
    found = Discovery()
    forced = project.settings.force_exclude
    for file in given:
        if not (forced and project.excluded_from_above(file.absolute)):
            found.add(file, named=True)
    for path in paths:
        absolute = os.path.abspath(path)
        if not path:  # abspath takes it for the working directory
            found.problems.append("'': no such file or directory")
        elif os.path.isdir(absolute):
            if not (forced and project.excluded_from_above(os.path.realpath(absolute), is_directory=True)):
                _add_directory(absolute, project, found)
        elif os.path.exists(absolute) and not os.path.isfile(absolute):
            found.problems.append(
                f"{path}: neither a file nor a directory"
            )  # reading a FIFO waits for its writer
        elif os.path.lexists(absolute):
            real = os.path.realpath(absolute)
            if not (forced and project.excluded_from_above(real)):
                found.add(SourceFile(shown(absolute), real), named=True)
        elif _GLOB.isdisjoint(path):
            found.problems.append(f"{path}: no such file or directory")
        elif not _add_matches(path, project, found):
            found.problems.append(f"{path}: no file matches")
    return found


def shown(absolute: str) -> str:
    """A path as users see it."""
    inside = walk.relative(absolute, os.getcwd())
    return absolute.replace(os.sep, "/") if inside is None else inside


def _add_directory(absolute: str, project: Project, found: Discovery) -> None:
    real = os.path.realpath(absolute)
    for path in walk.python_files(real, project.excluded, found.problems.append, is_dependency_name):
        # What lies below a directory is shown the way the directory was named.
        as_named = os.path.join(absolute, walk.relative(path, real) or "")
        found.add(SourceFile(shown(as_named), os.path.realpath(path)), named=False)


def _add_matches(pattern: str, project: Project, found: Discovery) -> bool:
    """Take what a pattern matches that the shell has left to us; as in a directory, only what is looked at."""
    matches = list(_matches(pattern))
    for absolute in matches:
        real = os.path.realpath(absolute)
        if os.path.isdir(absolute):
            _add_directory(absolute, project, found)
        elif _is_looked_at(absolute) and os.path.isfile(absolute) and not project.excluded_from_above(real):
            found.add(SourceFile(shown(absolute), real), named=False)
    return bool(matches)


def _is_looked_at(path: str) -> bool:
    return path.endswith(walk.SUFFIXES) or is_dependency_name(path)


def _matches(pattern: str) -> Iterator[str]:
    import glob

    for match in sorted(glob.glob(pattern, recursive=True)):
        yield os.path.abspath(match)
