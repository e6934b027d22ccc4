"""Edits → text."""

from __future__ import annotations

import pytest

from jaxlint.finding import Applicability, Edit, Fix, Span
from jaxlint.fix.apply import apply, apply_fixes, compatible


def edit(line: int, column: int, end_line: int, end_column: int, text: str) -> Edit:
    return Edit(Span(line, column, end_line, end_column), text)


def fix(*edits: Edit) -> Fix:
    return Fix("made up", Applicability.SAFE, edits)


def test_replace_insert_and_delete_in_any_order() -> None:
    edits = [edit(2, 1, 3, 1, ""), edit(1, 5, 1, 6, "2"), edit(3, 1, 3, 1, "z = 0\n")]
    assert apply("x = 1\ny = 1\nw = 1\n", edits) == "x = 2\nz = 0\nw = 1\n"


def test_columns_are_code_points() -> None:
    assert apply("s = 'é😀'; x = 1", [edit(1, 15, 1, 16, "2")]) == "s = 'é😀'; x = 2"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_are_kept(end: str) -> None:
    assert apply(f"a{end}b{end}c", [edit(3, 1, 3, 2, "d")]) == f"a{end}b{end}d"


def test_form_feed_ends_no_line() -> None:
    assert apply("a\x0cb\nc\n", [edit(2, 1, 2, 2, "d")]) == "a\x0cb\nd\n"


def test_insertion_at_the_end() -> None:
    assert apply("a\n", [edit(2, 1, 2, 1, "b\n")]) == "a\nb\n"


def test_overlap_is_refused() -> None:
    with pytest.raises(ValueError, match="line 1"):
        apply("abcdef", [edit(1, 1, 1, 4, ""), edit(1, 3, 1, 5, "")])


def test_touching_fixes_are_not_made_together() -> None:
    first, touching, apart = (
        fix(edit(1, 1, 1, 3, "x")),
        fix(edit(1, 3, 1, 4, "y")),
        fix(edit(1, 5, 1, 6, "z")),
    )
    assert compatible([first, touching, apart]) == [first, apart]


def test_a_fix_is_made_whole_or_not_at_all() -> None:
    first = fix(edit(1, 1, 1, 2, "x"))
    second = fix(edit(1, 2, 1, 3, "y"), edit(1, 5, 1, 6, "z"))
    assert apply_fixes("abcdef", [first, second]) == "xbcdef"


def test_an_edit_that_two_fixes_share_is_made_once() -> None:
    shared = edit(1, 1, 1, 1, "import jax\n")
    fixes = [fix(shared, edit(2, 1, 2, 2, "x")), fix(shared, edit(3, 1, 3, 2, "y"))]
    assert apply_fixes("import os\na\nb\n", fixes) == "import jax\nimport os\nx\ny\n"
