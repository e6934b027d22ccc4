"""Path patterns with the syntax of .gitignore: for .gitignore itself, `exclude` and `per-file-ignores`.

A pattern without a slash (but for one at its end) matches a name at any depth, one with a slash matches the
path from the directory that the patterns belong to. `*` and `?` stop at slashes, `**` does not, a slash at
the end means directories only, `!` takes back what an earlier pattern matched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

_TOKEN = re.compile(r"(?:/\*\*)+/|^(?:\*\*/)+|/\*\*$|\*+|\?|\[[!^]?\]?[^\]]*\]|\\.|.", re.DOTALL)


class _Group(NamedTuple):
    """Neighbouring patterns that differ in their expression alone."""

    takes_back: bool
    directories: bool  # matches directories only
    by_name: bool  # matches the last name of a path, not all of it
    expression: re.Pattern[str]


class Patterns:
    """An ordered list of patterns; the last one that matches decides."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._groups = list(_groups(patterns))
        self._groups.reverse()

    def __bool__(self) -> bool:
        return bool(self._groups)

    def decide(self, path: str, is_directory: bool) -> bool | None:
        """Whether a path (relative, with forward slashes) is matched (True), taken back (False) or neither.

        Directories above it are not looked at: a walk has asked about them before.
        """
        name = path.rpartition("/")[2]
        for takes_back, directories, by_name, expression in self._groups:
            if directories and not is_directory:
                continue
            if expression.fullmatch(name if by_name else path):
                return not takes_back
        return None

    def cover(self, path: str, is_directory: bool = False) -> bool:
        """Whether a path, or a directory above it, is matched."""
        if not self._groups:
            return False
        slash = path.find("/")
        while slash != -1:
            if slash and self.decide(path[:slash], is_directory=True):
                return True
            slash = path.find("/", slash + 1)
        return bool(self.decide(path, is_directory))


def _groups(patterns: Iterable[str]) -> Iterator[_Group]:
    parsed = [pattern for line in patterns if (pattern := _parse(line)) is not None]
    for (takes_back, directories, by_name), members in groupby(parsed, key=lambda pattern: pattern[:3]):
        expression = "|".join(pattern[3] for pattern in members)
        yield _Group(takes_back, directories, by_name, re.compile(expression, re.DOTALL))


def _compiles(expression: str) -> bool:
    try:
        re.compile(expression, re.DOTALL)
    except re.error:  # `[z-a]`: matches nothing, as with git
        return False
    return True


def _parse(line: str) -> tuple[bool, bool, bool, str] | None:
    pattern = line.rstrip("\r\n")
    while pattern.endswith(" ") and not pattern.endswith("\\ "):
        pattern = pattern[:-1]
    takes_back = pattern.startswith("!")
    if takes_back:
        pattern = pattern[1:]
    elif pattern.startswith("#"):
        return None
    directories = pattern.endswith("/")
    pattern = pattern.rstrip("/").removeprefix("./")
    by_name = "/" not in pattern
    pattern = pattern.removeprefix("/")
    expression = _translate(pattern)
    if not pattern or ("[" in pattern and not _compiles(expression)):
        return None
    return takes_back, directories, by_name, expression


def _translate(pattern: str) -> str:
    """The regular expression of a pattern."""
    return "".join(_translate_token(token) for token in _TOKEN.findall(pattern))


def _translate_token(token: str) -> str:
    if token.startswith("/**"):
        return "/(?:.*/)?" if token.endswith("/") else "/.+"
    if token.startswith("**/"):
        return "(?:.*/)?"
    if token[0] == "*":
        return "[^/]*"
    if token == "?":
        return "[^/]"
    if token[0] == "[" and len(token) > 2:
        inside = token[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        inverted = inside[0] in "!^"
        characters = inside[1:] if inverted else inside
        return f"(?!/)[{'^' if inverted else ''}{characters.replace('^', chr(92) + '^')}]"
    return re.escape(token[1:] if token[0] == "\\" and len(token) > 1 else token)
