"""Suspects → libcst nodes: parse only the statements that a rule asks about.

Parsing with libcst costs about ten times what `ast` does, and suspects touch under half a percent of the
lines of real packages: it is not even imported before a rule asks for a node. What is parsed together is a
top-level statement; of a class it is the header with the one method or statement that is asked about. No scope
or qualified-name provider is ever run: positions are enough.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from jaxlint.columns import split_lines
from jaxlint.finding import Span

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.piece import Piece

_Lines = tuple[int, int]  # first and last, from 1


class Focus:
    """One file as libcst sees it."""

    def __init__(self, source: str, tree: ast.Module) -> None:
        self.source = source
        self.tree = tree
        self._pieces: dict[tuple[_Lines, ...], Piece] = {}

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the file with their ends, without a byte order mark."""
        return split_lines(self.source.removeprefix("\ufeff"))

    def node(self, span: Span) -> cst.CSTNode | None:
        """The innermost node with exactly this span."""
        ranges = _ranges(self.tree.body, span.line, span.end_line)
        if ranges is None:
            return None
        if ranges not in self._pieces:
            from jaxlint.piece import Piece

            self._pieces[ranges] = Piece(self.lines, ranges)
        return self._pieces[ranges].by_span.get(span)

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node stands. Raises KeyError for a node that is not of this file."""
        return self._piece(node).spans[id(node)]

    def parents(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Innermost first."""
        around = self._piece(node).around
        while (parent := around.get(id(node))) is not None:
            yield parent
            node = parent

    def code(self, node: cst.CSTNode) -> str:
        """The source of a node, also of one made by a rule.

        libcst takes the indentation of further lines from the blocks around, of which a lone node has none: such
        lines are taken from the file.
        """
        import libcst as cst

        made = cst.Module([]).code_for_node(node)
        if "\n" not in made or not isinstance(node, cst.BaseExpression):
            return made
        try:
            written = self.text(self.span(node))  # without its own parentheses
        except KeyError:
            return made
        enclosed = f"{'(' * len(node.lpar)}{written}{')' * len(node.rpar)}"
        same = (text for text in (written, enclosed) if "".join(text.split()) == "".join(made.split()))
        return next(same, made)

    def text(self, span: Span) -> str:
        """The source of a span."""
        if span.line == span.end_line:
            return self.lines[span.line - 1][span.column - 1 : span.end_column - 1]
        first = self.lines[span.line - 1][span.column - 1 :]
        last = self.lines[span.end_line - 1][: span.end_column - 1]
        return first + "".join(self.lines[span.line : span.end_line - 1]) + last

    def _piece(self, node: cst.CSTNode) -> Piece:
        for piece in self._pieces.values():
            if id(node) in piece.spans:
                return piece
        raise KeyError(node)


def _ranges(body: list[ast.stmt], first: int, last: int) -> tuple[_Lines, ...] | None:
    """The lines that have to be parsed together for a stretch of lines; None when no statement covers it."""
    around = next((found for found in _stretches(body) if found[0] <= first and last <= found[1]), None)
    if around is None:
        return None
    begin, end, statement = around
    if not isinstance(statement, ast.ClassDef) or _start(statement.body[0]) <= statement.lineno:
        return ((begin, end),)  # `class A: x = 1` is one of them
    header = begin, _start(statement.body[0]) - 1
    if last <= header[1]:
        return (header, next(_stretches(statement.body))[:2])  # a header needs something below it
    inner = _ranges(statement.body, first, last)
    return (header, *inner) if inner is not None else ((begin, end),)


def _stretches(body: list[ast.stmt]) -> Iterator[tuple[int, int, ast.stmt]]:
    """First line, last line and first statement of what does not share a line with its neighbours."""
    statements = iter(body)
    head = next(statements, None)
    if head is None:
        return
    begin, end = _start(head), _end(head)
    for statement in statements:
        if _start(statement) > end:
            yield begin, end, head
            head, begin = statement, _start(statement)
        end = _end(statement)
    yield begin, end, head


def _start(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _end(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno
