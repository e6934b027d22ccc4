"""Walking directories for Python files, past what .gitignore and `exclude` leave out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from jaxlint.project.patterns import Patterns

SUFFIXES = (".py", ".pyi")


class _Ignore(NamedTuple):
    """The patterns of one directory's .gitignore."""

    directory: str
    patterns: Patterns


def relative(path: str, directory: str) -> str | None:
    """A path as seen from a directory above it, with forward slashes; None when it lies elsewhere."""
    prefix = directory if directory.endswith(os.sep) else directory + os.sep
    return path[len(prefix) :].replace(os.sep, "/") if path.startswith(prefix) else None


def python_files(
    directory: str,
    excluded: Callable[[str, bool], bool],
    complain: Callable[[str], None] = lambda problem: None,
    also: Callable[[str], bool] = lambda path: False,
) -> Iterator[str]:
    """The Python files of a directory and those below, sorted within each, and those that `also` asks for.

    `excluded` is asked about each path (absolute, with whether it is a directory) before it is entered.
    `complain` hears of directories that cannot be read. Links to directories are not followed: what they
    lead to is found at its own place, and a loop of links has no end.
    """
    pending = [(directory, _above(directory))]
    while pending:
        here, ignores = pending.pop()
        try:
            with os.scandir(here) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            complain(f"{here}: cannot read: {error.strerror}")
            continue
        ignores = _with_own(here, entries, ignores)
        below = []
        for entry in entries:
            is_directory = _is_directory(entry)
            wanted = is_directory or entry.name.endswith(SUFFIXES) or also(entry.path)
            if not wanted or not (is_directory or os.path.isfile(entry.path)):
                continue
            if excluded(entry.path, is_directory) or _ignored(entry.path, is_directory, ignores):
                continue
            if is_directory:
                below.append((entry.path, ignores))
            else:
                yield entry.path
        pending += reversed(below)


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _ignored(path: str, is_directory: bool, ignores: Sequence[_Ignore]) -> bool:
    for directory, patterns in reversed(ignores):
        decision = patterns.decide(relative(path, directory) or "", is_directory)
        if decision is not None:
            return decision
    return False


def _with_own(here: str, entries: list[os.DirEntry[str]], ignores: list[_Ignore]) -> list[_Ignore]:
    if any(entry.name == ".git" for entry in entries):
        ignores = []  # a repository of its own, which the patterns of the one around it do not concern
    if any(entry.name == ".gitignore" for entry in entries):
        return [*ignores, *_read(here)]
    return ignores


def _above(directory: str) -> list[_Ignore]:
    """The patterns that hold for a directory from those above it, up to the top of its repository."""
    found: list[_Ignore] = []
    while not os.path.exists(os.path.join(directory, ".git")):
        parent = os.path.dirname(directory)
        if parent == directory:
            return []  # no repository: .gitignore files above have no say
        directory = parent
        found[:0] = _read(directory)
    return found


def _read(directory: str) -> list[_Ignore]:
    try:
        with open(os.path.join(directory, ".gitignore"), encoding="utf-8", errors="replace") as file:
            return [_Ignore(directory, Patterns(file))]
    except OSError:
        return []
