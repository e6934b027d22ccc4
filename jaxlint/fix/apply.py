"""Edits → text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from jaxlint.columns import split_lines
from jaxlint.finding import Edit, Fix, Span


def apply(source: str, edits: Iterable[Edit]) -> str:
    """The source with every edit made; a line that an edit begins ends as the line it stands on does.

    Raises ValueError where two edits overlap, or one lies outside of the source.
    """
    lines = split_lines(source)
    starts = [0, *accumulate(map(len, lines))]
    pieces: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        span = edit.span
        if not 0 < span.line <= span.end_line <= len(starts):
            raise ValueError(f"an edit of line {span.line} in a file of {len(lines)}")
        begin = starts[span.line - 1] + span.column - 1
        end = starts[span.end_line - 1] + span.end_column - 1
        if begin < done:
            raise ValueError(f"overlapping edits at line {span.line}")
        text = edit.text
        if "\n" in text:
            text = text.replace("\r\n", "\n").replace("\n", line_end(lines, span.line))
        pieces += source[done:begin], text
        done = end
    return "".join((*pieces, source[done:]))


def line_end(lines: Sequence[str], number: int) -> str:
    """How a line ends, else the one before it: a last line may have no end."""
    for line in reversed(lines[max(number - 2, 0) : number]):
        end = line[len(line.rstrip("\r\n")) :]
        if end:
            return end
    return "\n"


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
