"""The expression that a finding points at: which names it reads, and whether its statement may pass it by."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from jaxlint.columns import span, split_lines
from jaxlint.finding import Span

_OF_SOME = (ast.IfExp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Expression(NamedTuple):
    """`names` are those that are read in it. `certain` says that it runs to its end whenever its statement does."""

    names: frozenset[str] = frozenset()
    certain: bool = True


def expression(tree: ast.Module | None, text: str, place: Span) -> Expression:
    """The expression or statement at a place; one without names where none stands there."""
    if tree is None:
        return Expression()
    lines = split_lines(text)
    found = min(_around(tree, lines, place), key=lambda item: _extent(item[0], lines), default=None)
    if found is None:
        return Expression()
    node, above = found
    names = {
        each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }
    inside = any(isinstance(each, (*_OF_SOME, ast.BoolOp)) for each in ast.walk(node))
    skipped = any(_may_skip(outer, inner) for outer, inner in pairwise([*above, node]))
    return Expression(frozenset(names), not (inside or skipped))


def _around(
    tree: ast.Module, lines: Sequence[str], place: Span
) -> Iterator[tuple[ast.expr | ast.stmt, list[ast.AST]]]:
    """The nodes that hold a place, each with the expressions around it, outermost first."""
    pending: list[tuple[ast.AST, list[ast.AST]]] = [(tree, [])]
    while pending:
        node, above = pending.pop()
        if isinstance(node, (ast.expr, ast.stmt)):
            if not (node.lineno <= place.line and place.end_line <= (node.end_lineno or node.lineno)):
                decorated = getattr(node, "decorator_list", ())  # those stand above the line of a definition
                pending += [(each, []) for each in decorated]
                continue
            if _holds(span(node, lines), place):
                yield node, above
        inner = [*above, node] if isinstance(node, ast.expr) else []
        pending += [(child, inner) for child in ast.iter_child_nodes(node)]


def _holds(outer: Span, inner: Span) -> bool:
    begins = (outer.line, outer.column) <= (inner.line, inner.column)
    return begins and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)


def _extent(node: ast.expr | ast.stmt, lines: Sequence[str]) -> tuple[int, int]:
    at = span(node, lines)
    return at.end_line - at.line, at.end_column - at.column if at.end_line == at.line else at.end_column


def _may_skip(outer: ast.AST, inner: ast.AST) -> bool:
    """Whether an expression may be evaluated without a part of it."""
    if isinstance(outer, ast.BoolOp):
        return inner is not outer.values[0]
    if isinstance(outer, ast.IfExp):
        return inner is not outer.test
    if isinstance(outer, ast.Compare):
        return inner in outer.comparators[1:]
    return isinstance(outer, _OF_SOME)
