"""Edits → text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from jaxlint.columns import split_lines
from jaxlint.finding import Edit, Fix, Span


def apply(source: str, edits: Iterable[Edit]) -> str:
    """The source with every edit made. Raises ValueError where two of them overlap."""
    starts = [0, *accumulate(map(len, split_lines(source)))]
    pieces: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        begin = starts[edit.span.line - 1] + edit.span.column - 1
        end = starts[edit.span.end_line - 1] + edit.span.end_column - 1
        if begin < done:
            raise ValueError(f"overlapping edits at line {edit.span.line}")
        pieces += source[done:begin], edit.text
        done = end
    return "".join((*pieces, source[done:]))


def compatible(fixes: Sequence[Fix]) -> list[Fix]:
    """The fixes that can be made together, earlier ones first.

    A fix is made whole or not at all. Edits that touch count as overlapping, since what either meant may
    depend on its neighbour; an edit that another fix makes too (the same import) is made once.
    """
    chosen: list[Fix] = []
    taken: list[Edit] = []
    for fix in fixes:
        new = [edit for edit in fix.edits if edit not in taken]
        if not any(_touch(edit.span, other.span) for edit in new for other in taken):
            chosen.append(fix)
            taken += new
    return chosen


def apply_fixes(source: str, fixes: Sequence[Fix]) -> str:
    """The source with all compatible fixes made."""
    edits = dict.fromkeys(edit for fix in compatible(fixes) for edit in fix.edits)
    return apply(source, edits)


def _touch(one: Span, other: Span) -> bool:
    return (one.line, one.column) <= (other.end_line, other.end_column) and (other.line, other.column) <= (
        one.end_line,
        one.end_column,
    )
