"""Suppression comments: which findings they hold back, and what is wrong with the comments themselves.

A comment holds for the statement on whose first or last line it stands, or under which it stands alone on
the line above (as part of a block of comments). Of a compound statement that is the header, any line of it.
On the very line of a finding it always holds.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType

from jaxlint.dependencies.names import format_of
from jaxlint.engine_codes import UNKNOWN_CODE, UNUSED_SUPPRESSION
from jaxlint.finding import Applicability, Edit, Finding, Fix, Place, Span
from jaxlint.project import markers
from jaxlint.project.comments import Code, Comments, Directive
from jaxlint.project.statements import Statements

_ENGINE = "JAX00"  # the engine's own codes: whether they are reported depends on the rest


def apply(
    findings: Iterable[Finding],
    source: str,
    tree: ast.Module | None,
    known_codes: Collection[str],
    report_unused: bool,
    *,
    path: str,
    judged_codes: Collection[str] | None = None,
    honour_noqa: bool = True,
    aliases: Mapping[str, str] = MappingProxyType({}),
) -> list[Finding]:
    """The findings of one file that no comment holds back, and JAX002 and JAX003 about the comments.

    `known_codes` are all there are, `judged_codes` those that were looked for in this run (None: all): a
    suppression of another is not called unused. `aliases` are other names of codes, in lower case. `tree` is None
    for a file that does not parse.
    """
    findings = list(findings)
    has_noqa = honour_noqa and findings and markers.NOQA in source.lower()
    if markers.SUPPRESSION not in source and not has_noqa:
        return findings
    comments = Comments(source, python=not format_of(path), aliases=aliases)
    return _File(comments, tree, path).apply(
        findings,
        frozenset(known_codes),
        frozenset(known_codes if judged_codes is None else judged_codes) if report_unused else frozenset(),
        honour_noqa,
    )


def places(line: int, column: int, comments: Comments, statements: Statements | None) -> list[int]:
    """The lines where a comment holds for a position, the likeliest first, those above it last.

    `statements` is None for a file that has none: one that does not parse, or is no Python.
    """
    stretch = statements.around(line, column) if statements else None
    if stretch is None:
        first, lines = line, [line]
    else:
        first, last = stretch.first, stretch.last
        lines = [line, *range(line, last + 1), *range(first, line)] if stretch.header else [line, last, first]
    above = first - 1
    while comments.alone(above):
        lines.append(above)
        above -= 1
    return list(dict.fromkeys(lines))


class _File:
    """One file's comments at work."""

    def __init__(self, comments: Comments, tree: ast.Module | None, path: str) -> None:
        self._comments = comments
        self._statements = Statements(tree, comments.colons) if tree is not None else None
        self._path = path
        self._used: set[Code] = set()
        self._by_line: dict[int, list[Directive]] = {}
        for directive in comments.directives:
            self._by_line.setdefault(directive.line, []).append(directive)
        self._whole_file = [directive for directive in comments.directives if directive.whole_file]

    def apply(
        self, findings: list[Finding], known: frozenset[str], judged: frozenset[str], honour_noqa: bool
    ) -> list[Finding]:
        kept = [finding for finding in findings if not self._held_back(finding, honour_noqa)]
        about = [*self._unknown(known), *self._unused(known, judged)]
        return kept + [finding for finding in about if not self._held_back(finding, honour_noqa)]

    # ------------------------------------------------------------ what is held back

    def _held_back(self, finding: Finding, honour_noqa: bool) -> bool:
        """Whether a comment holds for a finding. Each one that does counts as used."""
        line = finding.span.line
        naming = [
            code
            for directive in (*self._whole_file, *self._about(line, finding.span.column))
            for code in directive.codes
            if names(code, finding.code)
        ]
        self._used.update(naming)
        return bool(naming) or (honour_noqa and self._comments.noqa(line, finding.code))

    def _about(self, line: int, column: int) -> Iterator[Directive]:
        """The comments for a line that are not for the whole file."""
        for number in places(line, column, self._comments, self._statements):
            yield from (directive for directive in self._by_line.get(number, ()) if not directive.whole_file)

    # ------------------------------------------------------------ what is wrong with the comments

    def _unknown(self, known: frozenset[str]) -> Iterator[Finding]:
        for directive in self._comments.directives:
            if not directive.codes:
                word = "ignore-file" if directive.whole_file else "ignore"
                message = f"`{word}` names no code, so nothing is suppressed. Name one: `{word}[JAX103]`."
                yield UNKNOWN_CODE.finding(Place(self._path, directive.span), message)
            for code in directive.codes:
                if not _is_known(code, known):
                    written = self._comments.written(code)
                    message = f"There is no code `{written}`.{self._hint(written, known)}"
                    yield UNKNOWN_CODE.finding(Place(self._path, code.span), message)

    def _hint(self, written: str, known: Iterable[str]) -> str:
        from difflib import get_close_matches

        near = [
            *get_close_matches(written.upper(), sorted(known), n=1),
            *get_close_matches(written.lower(), sorted(self._comments.aliases), n=1),
        ]
        return f" Did you mean `{near[0]}`?" if near else ""

    def _unused(self, known: frozenset[str], judged: frozenset[str]) -> Iterator[Finding]:
        for directive in self._comments.directives:
            idle = [code for code in directive.codes if self._is_idle(code, known, judged)]
            if not idle:
                continue
            names = ", ".join(f"`{self._comments.written(code)}`" for code in idle)
            verb = "is" if len(idle) == 1 else "are"
            whole = len(idle) == len(directive.codes)
            edit = self._removal(directive) if whole else self._without(directive, idle)
            fix = Fix("Remove the unused suppression", Applicability.SAFE, (edit,))
            yield UNUSED_SUPPRESSION.finding(
                Place(self._path, directive.span if whole else idle[0].span),
                f"{names} {verb} not reported here. Remove the suppression.",
                None if self._declares(edit) else fix,
            )

    def _is_idle(self, code: Code, known: frozenset[str], judged: frozenset[str]) -> bool:
        """Whether every finding a code could be about was looked for, and none was held back."""
        if code in self._used or code.text.startswith(_ENGINE) or not _is_known(code, known):
            return False
        meant = {name for name in known if names(code, name) and not name.startswith(_ENGINE)}
        return bool(meant) and meant <= judged

    def _declares(self, edit: Edit) -> bool:
        """Whether a removal may change what encoding the file declares: only its first two lines can."""
        begin, end = edit.span[:2], edit.span[2:]
        lines = self._comments.lines
        gone = lines[begin[0] - 1][begin[1] - 1 : end[1] - 1 if end[0] == begin[0] else None]
        risen = lines[2:4] if end[0] > begin[0] else []
        return begin[0] <= 2 and any("coding" in text for text in (gone, *risen))

    def _without(self, directive: Directive, idle: Collection[Code]) -> Edit:
        """Name only the codes of a directive that are of use."""
        first, last = directive.codes[0].span, directive.codes[-1].span
        kept = ", ".join(self._comments.written(code) for code in directive.codes if code not in idle)
        return Edit(Span(first.line, first.column, last.end_line, last.end_column), kept)

    def _removal(self, directive: Directive) -> Edit:
        """Take out a whole directive, and its line when nothing else stands there."""
        span = directive.span
        text = self._comments.lines[span.line - 1]
        before, after = text[: span.column - 1], text[span.end_column - 1 :]
        if before.strip():
            start = len(before.rstrip()) + 1
            return Edit(Span(span.line, start, span.line, span.end_column), "")
        if after.strip():
            blank = len(after) - len(after.lstrip())
            return Edit(Span(span.line, span.column, span.line, span.end_column + blank), "")
        if after:
            return Edit(Span(span.line, 1, span.line + 1, 1), "")
        return Edit(Span(span.line, 1, span.line, span.end_column), "")


def names(code: Code, finding_code: str) -> bool:
    """Whether a code is, or begins, that of a finding. Letters alone would hold back everything: no code."""
    return finding_code.startswith(code.text) and any(character.isdigit() for character in code.text)


def _is_known(code: Code, known: Iterable[str]) -> bool:
    return any(names(code, name) for name in known)
