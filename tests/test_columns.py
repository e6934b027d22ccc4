"""Lines and columns in every unit."""

from __future__ import annotations

import ast

import pytest

from jaxlint.columns import from_utf8, span, split_lines, to_utf8, to_utf16
from jaxlint.finding import Span


@pytest.mark.parametrize("text", ["", "x", "x\n", "a\r\nb\rc\n\n\rd", "a\x0cb\x1cc\x85d\u2028e\n"])
def test_lines_are_those_of_the_parser(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    ends = text.replace("\r\n", "\n").replace("\r", "\n")
    assert [line.rstrip("\r\n") for line in lines] == ends.removesuffix("\n").split("\n")[: len(lines)]
    assert len(lines) == ends.count("\n") + (ends[-1:] not in ("", "\n"))


LINE = "é = '日本' + '😀' + x"


@pytest.mark.parametrize("column", range(1, len(LINE) + 2))
def test_there_and_back(column: int) -> None:
    before = LINE[: column - 1]
    assert to_utf8(LINE, column) == len(before.encode())
    assert to_utf16(LINE, column) == len(before.encode("utf-16-le")) // 2
    assert from_utf8(LINE, to_utf8(LINE, column)) == column


def test_a_byte_inside_a_character_is_that_character() -> None:
    assert from_utf8("é1", 1) == 1


def test_span_of_a_node() -> None:
    source = "é = (\n  '日本', x\n)\n"
    tree = ast.parse(source)
    name = next(node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "x")
    assert span(name, split_lines(source)) == Span(2, 9, 2, 10)
    assert span(tree.body[0], split_lines(source)) == Span(1, 1, 3, 2)
