"""The claims of a project's findings."""

from __future__ import annotations

from jaxlint.confirm.claim import Claim, claim
from jaxlint.confirm.expression import Expression, expression
from jaxlint.finding import Finding, Span
from jaxlint.project.comments import Comments
from jaxlint.project.source import SourceError
from jaxlint.project.statements import Statements, Stretch
from jaxlint.project.workspace import Part
from jaxlint.sources import Sources


class Claims:
    """Makes claims of findings."""

    def __init__(self, part: Part) -> None:
        self.sources = Sources({file.absolute: file for file in part.files})
        self._statements: dict[str, Statements | None] = {}
        self._known: dict[int, Claim] = {}

    def of(self, finding: Finding) -> Claim:
        """The claim of a finding, the same each time."""
        if id(finding) not in self._known:
            self._known[id(finding)] = claim(finding, self._stretch, self._expression)
        return self._known[id(finding)]

    def _stretch(self, file: str, line: int, column: int) -> Stretch | None:
        if file not in self._statements:
            try:
                source = self.sources.parsed(file)
            except SourceError:
                self._statements[file] = None
            else:
                tree = source.tree
                colons = Comments(source.text).colons
                self._statements[file] = Statements(tree, colons) if tree is not None else None
        statements = self._statements[file]
        return statements.around(line, column) if statements is not None else None

    def _expression(self, file: str, place: Span) -> Expression:
        try:
            source = self.sources.parsed(file)
        except SourceError:
            return Expression()
        return expression(source.tree, source.text, place)
