"""What a change has taken out: where it stood in the file as it is now, and what it meant for a finding there.

A line that is gone can be what a finding comes from, and no line of the new version says so. Two kinds are sure to
have to do with it: a statement that stood beside it, and a comment that suppressed it. Blank lines and other
comments mean nothing, and a statement that was rewritten has a new line that speaks for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.finding import Finding, Span
from jaxlint.project import markers
from jaxlint.project.comments import Comments, Directive
from jaxlint.project.statements import Statements, Stretch
from jaxlint.project.suppressions import names, places
from jaxlint.project.unified_diff import Change, Removal


class NewText:
    """The new version of a file, beside what was taken out of it."""

    def __init__(self, text: str, tree: ast.Module | None, *, python: bool) -> None:
        """`tree` is None for a file that does not parse, or is no Python."""
        self._comments = Comments(text, python=python)
        self._statements = Statements(tree, self._comments.colons) if tree is not None else None

    def around(self, span: Span) -> Stretch | None:
        """The statement or header at the beginning of a span."""
        return self._statements.around(span.line, span.column) if self._statements else None

    def stood_beside(self, change: Change, span: Span) -> bool:
        """Whether a statement that is gone stood directly before or after that of a span, in the same block."""
        stretch = self.around(span) or Stretch(span.line, span.line, False)
        if not 0 < stretch.first <= len(self._comments.lines):
            return False
        indent = _indent(self._comments.lines[stretch.first - 1])
        beside = {
            stretch.first: -1,
            stretch.last + 1: 0,
        }  # the removed line that was the neighbour, by position
        return any(
            not removal.instead
            and removal.instead.start in beside
            and _is_statement(removal.lines[beside[removal.instead.start]], indent)
            for removal in change.removals
        )

    def suppressed(self, change: Change, finding: Finding) -> bool:
        """Whether a comment that is gone held for a finding."""
        return any(
            (directive.whole_file or self._held(removal, directive.line, finding.span))
            and any(
                names(code, finding.code) or code.text.lower() == finding.slug for code in directive.codes
            )
            for removal in change.removals
            for directive in _directives(removal)
        )

    def _held(self, removal: Removal, line: int, span: Span) -> bool:
        """Whether the comment on a line of what is gone, from 1, stood where comments for a position do."""
        held = places(span.line, span.column, self._comments, self._statements)
        if not set(held).isdisjoint(removal.instead):
            return True
        stretch = self.around(span)
        first = stretch.first if stretch else span.line
        above = all(text.lstrip().startswith("#") for text in removal.lines[line - 1 :])
        return above and min(held) <= removal.instead.stop <= first


def _directives(removal: Removal) -> Iterator[Directive]:
    text = "\n".join(removal.lines)
    # Lines out of the middle of a program are no program: they are read as lines.
    yield from Comments(text, python=False).directives if markers.SUPPRESSION in text else ()


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _is_statement(line: str, indent: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#") and _indent(line) == indent
