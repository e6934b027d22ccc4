"""Unified diffs, as git and others write them: which lines of which files a change touches.

The library for this, unidiff, leaves names in quotes as they are, and takes a folder `a` for a prefix in a diff
that has none. Prefixes of every kind or none, names with spaces, quotes and bytes that are no text, and line ends
of every kind are all met in practice.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb'\\([abtnvfr"\\]|[0-7]{3})')
_ESCAPED = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}
_COLOUR = re.compile(rb"\x1b\[[0-9;]*[mK]")
_COLOURED = re.compile(rb"^\x1b\[[0-9;]*m", re.MULTILINE)  # no line of a diff without colours begins so
_NOTHING = b"/dev/null"


class DiffError(Exception):
    """Text that is no unified diff. The message is one line."""


class Removal(NamedTuple):
    """Lines that were taken out in one place: their text, and the new lines that stand there instead."""

    lines: tuple[str, ...]
    instead: range


class Change(NamedTuple):
    """What a change does to one file; lines are those of the new version, from 1.

    `added` are new or different. Each of `cuts` is the line behind which others were taken out (0: at the top).
    `shown` are stretches of lines that the diff shows, context included.
    """

    added: frozenset[int]
    cuts: frozenset[int]
    shown: tuple[range, ...]
    removals: tuple[Removal, ...] = ()

    def touches(self, first: int, last: int) -> bool:
        """Whether anything from one line to another (included) is new, or was taken out between them."""
        return any(first <= line <= last for line in self.added) or any(
            first <= line < last for line in self.cuts
        )

    def shows(self, first: int, last: int) -> bool:
        """Whether one stretch of the diff has all these lines."""
        return any(first in stretch and last in stretch for stretch in self.shown)


def read(data: bytes, exists: Callable[[str], bool] = lambda path: False) -> dict[str, Change]:
    """What a diff does, by path as the diff gives it, without the prefix. Raises DiffError.

    Files that are removed or binary, and renames that change nothing else, are not there. Where a diff leaves
    open whether its names have a prefix, the name that `exists` is right. The colours that git gives to terminals
    are taken off.
    """
    if _COLOURED.search(data):
        data = _COLOUR.sub(b"", data)
    reader = _Reader(data.split(b"\n"), exists)
    changes = dict(reader.changes())
    if not reader.is_diff and data.strip():
        raise DiffError("this is no unified diff")
    return changes


class _Reader:
    """Goes through the lines of a diff, file by file."""

    def __init__(self, lines: list[bytes], exists: Callable[[str], bool]) -> None:
        self._lines = lines
        self._exists = exists
        self._at = 0
        self.is_diff = False

    def changes(self) -> Iterator[tuple[str, Change]]:
        header, renamed = b"", None
        while self._at < len(self._lines):
            line = self._lines[self._at].rstrip(b"\r")
            self._at += 1
            if line.startswith(b"diff --git "):
                header, renamed, self.is_diff = line.removeprefix(b"diff --git "), None, True
            elif line.startswith((b"diff --cc ", b"diff --combined ", b"@@@ ")):
                raise DiffError(f"line {self._at}: a combined diff, of a merge, has no single old version")
            elif line.startswith((b"rename to ", b"copy to ")):
                renamed = _unquoted(line.partition(b" to ")[2])
            elif line.startswith(b"--- ") and self._next().startswith(b"+++ "):
                self.is_diff = True
                old, new = _name(line[4:]), _name(self._next()[4:])
                self._at += 1
                change = self._change()
                if new != _NOTHING:
                    path = renamed if renamed is not None else self._path(old, new, header)
                    yield os.fsdecode(path), change
                header, renamed = b"", None
            elif line.startswith(b"@@ -") and _HUNK.match(line):
                raise DiffError(f"line {self._at}: a hunk without the name of its file")

    def _next(self) -> bytes:
        return self._lines[self._at].rstrip(b"\r") if self._at < len(self._lines) else b""

    # ------------------------------------------------------------ names

    def _path(self, old: bytes, new: bytes, header: bytes) -> bytes:
        """The path of the new version, without its prefix if it has one."""
        stripped = new.partition(b"/")[2]
        if not stripped or old == new:  # with prefixes they would differ
            return new
        if old != _NOTHING and old.partition(b"/")[2] == stripped:
            return stripped
        if old == _NOTHING and header:  # a new file: the header has both names, the same without prefixes
            return new if _unprefixed(header) == new else stripped
        return stripped if not self._exists(os.fsdecode(new)) and self._exists(os.fsdecode(stripped)) else new

    # ------------------------------------------------------------ hunks

    def _change(self) -> Change:
        added: set[int] = set()
        cuts: set[int] = set()
        shown: list[range] = []
        removals: list[Removal] = []
        while found := _HUNK.match(self._next()):
            self._at += 1
            removed, first, length = (1 if text is None else int(text) for text in found.groups())
            # Where a hunk has no new line, what it gives is the line before.
            line = first if length else first + 1
            begin = self._at
            self._hunk(line, removed, length, added, cuts)
            removals += _removals(self._lines[begin : self._at], line)
            shown.append(range(first, first + length))
        return Change(frozenset(added), frozenset(cuts), tuple(shown), tuple(removals))

    def _hunk(self, line: int, removed: int, length: int, added: set[int], cuts: set[int]) -> None:
        begin = self._at
        while removed > 0 or length > 0:
            if self._at >= len(self._lines):
                raise DiffError(f"line {begin}: this hunk is cut off")
            sign = self._lines[self._at][:1]
            self._at += 1
            if sign == b"+":
                added.add(line)
            elif sign == b"-":
                cuts.add(line - 1)
            elif sign == b"\\":  # "No newline at end of file"
                continue
            elif sign not in (b" ", b"", b"\r"):  # some programs take the blank off an empty line
                raise DiffError(f"line {self._at}: not a line of a hunk")
            if sign != b"-":
                line += 1
                length -= 1
            if sign != b"+":
                removed -= 1


def _removals(lines: Sequence[bytes], line: int) -> Iterator[Removal]:
    """What the lines of a hunk take out, from a line of the new version on."""
    changed = (text for text in lines if text[:1] != b"\\")  # "No newline at end of file"
    for differs, group in groupby(changed, key=lambda text: text[:1] in (b"+", b"-")):
        texts = list(group)
        end = line + sum(text[:1] != b"-" for text in texts)
        removed = tuple(os.fsdecode(text[1:].rstrip(b"\r")) for text in texts if text[:1] == b"-")
        if differs and removed:
            yield Removal(removed, range(line, end))
        line = end


def _name(text: bytes) -> bytes:
    """A name behind `---` or `+++`; what follows a tab is a date, or nothing."""
    return _unquoted(text) if text.startswith(b'"') else text.partition(b"\t")[0]


def _unquoted(text: bytes) -> bytes:
    """A name as C would write it in quotes, or as it is."""
    if not (len(text) > 1 and text.startswith(b'"') and text.endswith(b'"')):
        return text
    return _ESCAPE.sub(
        lambda found: bytes([_ESCAPED[found[1]] if found[1] in _ESCAPED else int(found[1], 8) & 255]),
        text[1:-1],
    )


def _unprefixed(header: bytes) -> bytes:
    """The name that stands in a header twice, b"" where two different ones do."""
    middle = len(header) // 2
    same = header[:middle] == header[middle + 1 :] and header[middle : middle + 1] == b" "
    return _unquoted(header[:middle]) if same else b""
