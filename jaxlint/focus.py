"""Suspects → libcst nodes: parse only the top-level statements that hold a suspect.

Parsing with libcst costs about ten times what `ast` does, and suspects touch under half a percent of the
lines of real packages. The rest of the file is replaced by blank lines, so that every line stays true. No
scope or qualified-name provider is ever run: positions are enough.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from jaxlint.columns import split_lines
from jaxlint.finding import Span


class Focus:
    """The parsed statements of one file."""

    def __init__(self, source: str, tree: ast.Module, lines: Iterable[int]) -> None:
        """Parse the top-level statements of `tree` that contain one of the `lines` (from 1)."""
        self.lines = split_lines(source)
        if self.lines and self.lines[0].startswith("\ufeff"):
            self.lines[0] = self.lines[0][1:]
        wanted = sorted(set(lines))
        kept = [""] * len(self.lines)
        for first, last in _statements(tree):
            if any(first <= line <= last for line in wanted):
                kept[first - 1 : last] = self.lines[first - 1 : last]
        module = cst.parse_module("".join(line or "\n" for line in kept))
        self._wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        self._positions = self._wrapper.resolve(PositionProvider)
        self._by_span: dict[Span, cst.CSTNode] = {}
        self._spans: dict[cst.CSTNode, Span] = {}
        self._parent: dict[cst.CSTNode, cst.CSTNode] = {}
        self._fill(module)

    def _fill(self, module: cst.Module) -> None:
        stack: list[cst.CSTNode] = [module]
        while stack:
            node = stack.pop()
            for child in node.children:
                self._parent[child] = node
                stack.append(child)
            where = self._positions.get(node)
            if where is None:
                continue
            span = Span(where.start.line, where.start.column + 1, where.end.line, where.end.column + 1)
            self._spans[node] = span
            known = self._by_span.get(span)
            # One span may belong to several nodes (`Expr` and the call in it): the innermost expression
            # is what a fact means.
            if (
                known is None
                or isinstance(node, cst.BaseExpression)
                or not isinstance(known, cst.BaseExpression)
            ):
                self._by_span[span] = node

    def node(self, span: Span) -> cst.CSTNode | None:
        """The innermost node with exactly this span."""
        return self._by_span.get(span)

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node stands. Raises KeyError for a node that is not of this module."""
        return self._spans[node]

    def parents(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Innermost first."""
        while (parent := self._parent.get(node)) is not None:
            yield parent
            node = parent

    def code(self, node: cst.CSTNode) -> str:
        """The source of a node, also of one made by a rule."""
        return cst.Module([]).code_for_node(node)

    def text(self, span: Span) -> str:
        """The source of a span."""
        if span.line == span.end_line:
            return self.lines[span.line - 1][span.column - 1 : span.end_column - 1]
        first = self.lines[span.line - 1][span.column - 1 :]
        last = self.lines[span.end_line - 1][: span.end_column - 1]
        return first + "".join(self.lines[span.line : span.end_line - 1]) + last


def _statements(tree: ast.Module) -> Iterator[tuple[int, int]]:
    for statement in tree.body:
        decorators = [d.lineno for d in getattr(statement, "decorator_list", [])]
        yield min([statement.lineno, *decorators]), statement.end_lineno or statement.lineno
