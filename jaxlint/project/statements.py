"""Where statements begin and end, as somebody sees them who wants to put a comment there.

A compound statement is its header: from the first decorator to the colon. `except` and `case` have one too.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

Position = tuple[int, int]  # line and column, both from 1

_BODIES = ("body", "orelse", "finalbody")


class Stretch(NamedTuple):
    """The lines of a simple statement or of a header, both ends included."""

    first: int
    last: int
    header: bool


class Statements:
    """All statements of a module, to be asked by position."""

    def __init__(self, tree: ast.Module, colons: Sequence[Position]) -> None:
        """`colons` are the positions of all colons of the source, in order."""
        found = sorted(_stretches(tree, colons))
        self._begins = [begin for begin, _ in found]
        self._stretches = [stretch for _, stretch in found]

    def around(self, line: int, column: int) -> Stretch | None:
        """The statement or header that begins at or before a position and holds its line."""
        index = bisect_right(self._begins, (line, column)) - 1
        if index < 0:
            return None
        stretch = self._stretches[index]
        return stretch if line <= stretch.last else None


def _stretches(tree: ast.Module, colons: Sequence[Position]) -> Iterator[tuple[Position, Stretch]]:
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        begin = _begin(node)
        inner: list[ast.AST] = [child for name in _BODIES for child in getattr(node, name, ())]
        pending += inner
        pending += getattr(node, "handlers", ())
        pending += getattr(node, "cases", ())
        if inner or isinstance(node, ast.Match):
            body = getattr(node, "body", None) or node.cases  # type: ignore[attr-defined]  # a match
            end = _header_end(_begin(body[0]), colons) or begin[0]
        else:
            end = getattr(node, "end_lineno", None) or begin[0]
        yield begin, Stretch(begin[0], end, bool(inner))


def _begin(node: ast.AST) -> Position:
    """Where a statement begins. Of columns only the order matters, so bytes do."""
    decorators = getattr(node, "decorator_list", None)
    if decorators:
        return decorators[0].lineno, 1  # its at sign stands at the beginning of the line
    if isinstance(node, ast.match_case):
        return node.pattern.lineno, 1
    return node.lineno, node.col_offset + 1  # type: ignore[attr-defined]  # located nodes only


def _header_end(body: Position, colons: Sequence[Position]) -> int | None:
    """The line of the colon before a body."""
    index = bisect_left(colons, body) - 1
    return colons[index][0] if index >= 0 else None
