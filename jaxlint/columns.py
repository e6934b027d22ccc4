"""Lines and columns in every unit that somebody counts in.

Ours are code points from 1. `ast` and rdjson count UTF-8 bytes, SARIF and LSP UTF-16 code units. Lines end
where Python's own tokenizer ends them; `str.splitlines` would also split at form feeds and other characters
that stand inside a line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from jaxlint.finding import Span

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def split_lines(text: str) -> list[str]:
    """The lines of a source, each with its line end, as Python counts them."""
    return _LINE.findall(text)


def from_utf8(line: str, offset: int) -> int:
    """The column at a byte offset (from 0) of a line; inside a character: that character's column."""
    if line.isascii():
        return offset + 1
    return len(line.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore")) + 1


def to_utf8(line: str, column: int) -> int:
    """The byte offset (from 0) of a column."""
    before = line[: column - 1]
    return column - 1 if before.isascii() else len(before.encode("utf-8", "surrogatepass"))


def to_utf16(line: str, column: int) -> int:
    """The offset in UTF-16 code units (from 0) of a column."""
    before = line[: column - 1]
    return column - 1 if before.isascii() else len(before.encode("utf-16-le", "surrogatepass")) // 2


def span(
    node: ast.expr | ast.stmt | ast.excepthandler | ast.alias | ast.arg | ast.keyword, lines: Sequence[str]
) -> Span:
    """Where a node stands, given the lines of its source."""
    end_line = node.end_lineno or node.lineno
    end_offset = node.col_offset if node.end_col_offset is None else node.end_col_offset
    return Span(
        node.lineno,
        from_utf8(lines[node.lineno - 1], node.col_offset),
        end_line,
        from_utf8(lines[end_line - 1], end_offset),
    )
