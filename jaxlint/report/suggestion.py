"""A fix to read: the lines that it would change, and what they would become."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jaxlint.columns import split_lines
from jaxlint.finding import Fix
from jaxlint.fix.apply import apply


class Line(NamedTuple):
    """A line that goes ("-") or comes ("+"). `number` counts in the file as it is; a new line has that of the line
    it stands in for, or is put before."""

    number: int
    mark: str
    text: str


def lines(fix: Fix, source: Sequence[str]) -> Iterator[Line]:
    """What a fix does to the lines of its file (each with its end). Nothing where they are no longer the same."""
    import difflib

    text = "".join(source)
    try:
        after = split_lines(apply(text, fix.edits))
    except ValueError:
        return
    first = min(edit.span.line for edit in fix.edits) - 1
    rest = len(source) - max(edit.span.end_line for edit in fix.edits)  # lines below that stay as they are
    old, new = source[first : len(source) - rest], after[first : len(after) - rest]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, begin, end, new_begin, new_end in matcher.get_opcodes():
        if tag != "equal":
            for offset, line in enumerate(old[begin:end]):
                yield Line(first + begin + offset + 1, "-", line.rstrip("\r\n"))
            for line in new[new_begin:new_end]:
                yield Line(first + begin + 1, "+", line.rstrip("\r\n"))
