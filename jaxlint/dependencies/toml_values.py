"""The values of a TOML text with where they stand: what Python's own parser does not tell."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.finding import Span

Key = tuple[str | int, ...]

_TOKEN = re.compile(
    r"(?P<blank>[ \t\r]+|\#[^\n]*)|(?P<line>\n)"
    r"|(?P<text>\"\"\"(?:[^\\]|\\.)*?\"{3,5}|'''.*?'{3,5}|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*')"
    r"|(?P<mark>[\[\]{}=,.])|(?P<bare>[^\s\[\]{}=,.#\"']+)",
    re.DOTALL,
)


class TomlValue(NamedTuple):
    """A string (without its quotes), number, date or truth value; `key` leads to it from the top."""

    key: Key
    text: str
    is_string: bool
    span: Span


def values(text: str) -> Iterator[TomlValue]:
    """All values in order. Reading ends quietly where the text is no TOML any more."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]
        self._tokens = [
            (str(found.lastgroup), found[0], found.start())
            for found in _TOKEN.finditer(text)
            if found.lastgroup != "blank"
        ]
        self._at = 0
        self._counts: dict[Key, int] = {}

    def read(self) -> Iterator[TomlValue]:
        table: Key = ()
        while self._at < len(self._tokens):
            kind, text, _ = self._tokens[self._at]
            if kind == "line":
                self._at += 1
            elif text == "[":
                table = self._header()
            elif kind in ("bare", "text"):
                key = table + self._key()
                if self._take() != "=":
                    return
                yield from self._value(key)
            else:
                return

    def _take(self) -> str:
        if self._at >= len(self._tokens):
            return ""
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _peek(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _skip_lines(self) -> None:
        while self._peek() == "\n":
            self._at += 1

    def _header(self) -> Key:
        self._at += 1
        several = self._peek() == "["
        self._at += several
        key = self._key()
        while self._peek() == "]":
            self._at += 1
        if not several:
            return self._numbered(key)
        owner = self._numbered(key[:-1]) + key[-1:]
        self._counts[owner] = self._counts.get(owner, -1) + 1
        return (*owner, self._counts[owner])

    def _numbered(self, key: Key) -> Key:
        """A table's key with the number of the element where it lies within an array of tables."""
        path: Key = ()
        for word in key:
            path = (*path, word)
            if path in self._counts:
                path = (*path, self._counts[path])
        return path

    def _key(self) -> Key:
        words: list[str | int] = []
        while self._at < len(self._tokens):
            kind, text, _ = self._tokens[self._at]
            if kind not in ("bare", "text"):
                break
            words.append(text if kind == "bare" else _content(text))
            self._at += 1
            if self._peek() != ".":
                break
            self._at += 1
        return tuple(words)

    def _value(self, key: Key) -> Iterator[TomlValue]:
        kind, text, start = self._tokens[self._at] if self._at < len(self._tokens) else ("", "", 0)
        if text == "[":
            yield from self._array(key)
        elif text == "{":
            yield from self._inline(key)
        elif kind == "text":
            self._at += 1
            yield TomlValue(key, _content(text), True, self._span(start, start + len(text)))
        else:
            yield from self._plain(key, start)

    def _plain(self, key: Key, start: int) -> Iterator[TomlValue]:
        """A number or a date may hold points; it ends with the line or at a comma or bracket."""
        text, end = "", start
        while self._at < len(self._tokens):
            kind, piece, begin = self._tokens[self._at]
            if kind != "bare" and piece != ".":
                break
            text, end = text + piece, begin + len(piece)
            self._at += 1
        if text:
            yield TomlValue(key, text, False, self._span(start, end))
        else:
            self._at = len(self._tokens)

    def _array(self, key: Key) -> Iterator[TomlValue]:
        self._at += 1
        number = 0
        while self._at < len(self._tokens):
            self._skip_lines()
            if self._peek() == "]":
                self._at += 1
                return
            yield from self._value((*key, number))
            number += 1
            self._skip_lines()
            if self._peek() == ",":
                self._at += 1

    def _inline(self, key: Key) -> Iterator[TomlValue]:
        self._at += 1
        while self._at < len(self._tokens):
            self._skip_lines()
            if self._peek() == "}":
                self._at += 1
                return
            inner = self._key()
            if not inner or self._take() != "=":
                self._at = len(self._tokens)
                return
            yield from self._value(key + inner)
            self._skip_lines()
            if self._peek() == ",":
                self._at += 1

    def _span(self, start: int, end: int) -> Span:
        first, last = bisect_right(self._lines, start), bisect_right(self._lines, end)
        return Span(first, start - self._lines[first - 1] + 1, last, end - self._lines[last - 1] + 1)


def _content(text: str) -> str:
    """A string without its quotes. Escapes stay as they are: no name or version has one."""
    width = 3 if text[:3] in ('"""', "'''") else 1
    return text[width:-width]
