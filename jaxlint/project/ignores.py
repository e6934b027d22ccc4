"""Suppression comments, written where somebody would write them who knows where they hold.

A comment goes to the end of the finding's own line; where none can stand there (the line ends inside a string, or
by a backslash) to the end of its statement. One that is there already, and holds for the finding, gets one code
more instead. No line is added in Python, so that everything else stays where it was.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jaxlint.dependencies.names import format_of
from jaxlint.engine_codes import ENGINE_CODES
from jaxlint.finding import Edit, Finding, Span
from jaxlint.fix.apply import apply
from jaxlint.project import source, suppressions
from jaxlint.project.comments import Comments, Directive
from jaxlint.project.deep import with_deep_stack
from jaxlint.project.files import SourceFile
from jaxlint.project.statements import Statements

# What is wrong with a file, a setting or a comment is not to be hidden by another comment.
_OWN = frozenset(code.code for code in ENGINE_CODES)


class Outcome(NamedTuple):
    """The new content of a file, None where it stays as it is, and the findings that no comment can hold back."""

    data: bytes | None
    left: list[Finding]


def add(file: SourceFile, findings: Sequence[Finding]) -> Outcome:
    """Suppress findings of a file that are reported. Raises SourceError where it cannot be read."""
    kind = format_of(file.path)
    text, encoding = source.decode(source.read_bytes(file))
    meant = [finding for finding in findings if finding.code not in _OWN and kind != "lock"]
    if not meant:
        return Outcome(None, list(findings))
    tree = None if kind else source.parse(text)
    changed = apply(text, _Plan(text, tree, python=not kind).edits(meant))
    if not _means_the_same(text, changed, tree, file.path):
        return Outcome(None, list(findings))
    open_still = suppressions.apply(
        meant, changed, tree, {finding.code for finding in meant}, report_unused=False, path=file.path
    )
    left = [finding for finding in findings if finding not in meant or finding in open_still]
    return Outcome(changed.encode(encoding), left)


class _Plan:
    """Which comments a file needs, and where."""

    def __init__(self, text: str, tree: ast.Module | None, *, python: bool) -> None:
        self._comments = Comments(text, python=python)
        self._statements = Statements(tree, self._comments.colons) if tree is not None else None
        self._extended: dict[Directive, list[str]] = {}
        self._new: dict[int, list[str]] = {}  # at the ends of lines

    def edits(self, findings: Iterable[Finding]) -> list[Edit]:
        """The changes that hold findings back, as far as that can be done."""
        for finding in findings:
            self._plan(finding)
        return [
            *(self._extension(directive, codes) for directive, codes in self._extended.items()),
            *(self._comment(line, codes) for line, codes in self._new.items()),
        ]

    def _plan(self, finding: Finding) -> None:
        where = suppressions.places(finding.span.line, finding.span.column, self._comments, self._statements)
        if any(finding.code in self._new.get(line, ()) for line in where):
            return
        directives = [d for d in self._comments.directives if d.line in where and not d.whole_file]
        if directives:
            codes = self._extended.setdefault(min(directives, key=lambda d: where.index(d.line)), [])
        else:
            free = [
                line
                for line in where
                if not self._comments.alone(line) and self._comments.takes_comment(line)
            ]
            if not free:
                return
            codes = self._new.setdefault(free[0], [])
        if finding.code not in codes:
            codes.append(finding.code)

    def _extension(self, directive: Directive, codes: Sequence[str]) -> Edit:
        slot = directive.slot
        written = self._comments.lines[slot.line - 1][slot.column - 1 : slot.end_column - 1]
        known = written.strip().removeprefix("[").removesuffix("]").strip().rstrip(",")
        return Edit(slot, f"[{', '.join([known] * bool(known) + sorted(codes))}]")

    def _comment(self, line: int, codes: Sequence[str]) -> Edit:
        content = self._comments.lines[line - 1].rstrip("\r\n")
        end = len(content.rstrip()) + 1
        return Edit(
            Span(line, end, line, len(content) + 1), f"  # jaxlint: ignore[{', '.join(sorted(codes))}]"
        )


def _means_the_same(text: str, changed: str, tree: ast.Module | None, path: str) -> bool:
    """Whether comments are all that a source has got more."""
    if tree is not None:
        return with_deep_stack(lambda: ast.dump(tree) == ast.dump(source.parse(changed)))
    if not path.endswith(".toml"):
        return True
    from jaxlint.project import toml

    try:
        return toml.parse(text, path) == toml.parse(changed, path)
    except toml.TomlError:
        return False
