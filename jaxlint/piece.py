"""Some lines of a file as libcst sees them, with the positions that they have in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from typing import cast

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider

from jaxlint.finding import Span


class Piece:
    """Some stretches of lines (first and last, from 1), parsed as one module.

    `spans` and `around` are by the id of a node, whose own hash is slow: where it stands, and what is around it.
    """

    def __init__(self, lines: list[str], ranges: tuple[tuple[int, int], ...]) -> None:
        self._numbers = [number for first, last in ranges for number in range(first, last + 1)]
        self._numbers.append(self._numbers[-1] + 1)
        self.by_span: dict[Span, cst.CSTNode] = {}
        self.spans: dict[int, Span] = {}
        self.around: dict[int, cst.CSTNode] = {}
        try:
            self._module = cst.parse_module("".join(lines[number - 1] for number in self._numbers[:-1]))
        except cst.ParserSyntaxError:
            return  # newer than libcst: the findings stand, without fixes
        self._positions = _Positions().of(self._module)
        self._fill()

    def _fill(self) -> None:
        numbers = self._numbers
        stack: list[cst.CSTNode] = [self._module]
        while stack:
            node = stack.pop()
            for child in _children(node):
                self.around[id(child)] = node
                stack.append(child)
            where = self._positions.get(node)
            if where is None:
                continue
            start, end = where.start, where.end
            span = Span(numbers[start.line - 1], start.column + 1, numbers[end.line - 1], end.column + 1)
            self.spans[id(node)] = span
            known = self.by_span.get(span)
            # One span may belong to several nodes (`Expr` and the call in it): the innermost expression
            # is what a fact means.
            if (
                known is None
                or isinstance(node, cst.BaseExpression)
                or not isinstance(known, cst.BaseExpression)
            ):
                self.by_span[span] = node


class _Positions(PositionProvider):
    """Positions without a `MetadataWrapper`: that would visit each node once more, for nothing."""

    def of(self, module: cst.Module) -> Mapping[cst.CSTNode, CodeRange]:
        """Where each node of a module that was just parsed stands."""
        self._gen_impl(module)
        return cast("Mapping[cst.CSTNode, CodeRange]", self._computed)  # none of them is lazy


def _children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for name in _field_names(type(node)):
        value = getattr(node, name)
        if isinstance(value, (list, tuple)):
            yield from value
        elif _is_node(value.__class__):
            yield value


@cache
def _is_node(kind: type) -> bool:  # abstract base classes answer slowly
    return issubclass(kind, cst.CSTNode)


@cache
def _field_names(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
