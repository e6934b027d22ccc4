"""A finding as something to measure: the statements that it speaks of, by file and line."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from jaxlint.confirm.expression import Expression
from jaxlint.finding import Finding, Place, Span
from jaxlint.project.statements import Stretch

MOST = 12  # related places that are looked at


class Site(NamedTuple):
    """A statement, or the header of a compound one. `file` is absolute, lines count from 1, both included."""

    file: str
    first: int
    last: int
    message: str = ""

    def holds(self, file: str, line: int) -> bool:
        """Whether a line is one of the statement's."""
        return self.first <= line <= self.last and (file == self.file or os.path.realpath(file) == self.file)


class Claim(NamedTuple):
    """A finding, the statement it points at and those that explain it, and the expression in that statement."""

    finding: Finding
    site: Site
    related: tuple[Site, ...]
    expression: Expression = Expression()

    @property
    def sites(self) -> tuple[Site, ...]:
        """All statements, the one the finding points at first."""
        return (self.site, *self.related)

    def touches(self, stack: list[list[object]]) -> bool:
        """Whether the call stack (frames as [file, line, function]) passes through one of the statements."""
        return any(site.holds(str(file), int(str(line))) for file, line, _ in stack for site in self.sites)


def claim(
    finding: Finding,
    stretch: Callable[[str, int, int], Stretch | None],
    expression: Callable[[str, Span], Expression],
) -> Claim:
    """The claim of a finding. `stretch` gives the statement at a line and column of a file (absolute), `expression`
    the expression at a place of one."""

    def site(place: Place, message: str = "") -> Site:
        file = os.path.realpath(place.path)
        found = stretch(file, place.span.line, place.span.column)
        if found is None:
            return Site(file, place.span.line, place.span.line, message)
        return Site(file, found.first, found.last, message)

    related = [site(item.place, item.message) for item in finding.related[:MOST]]
    here = site(finding.place)
    return Claim(finding, here, tuple(dict.fromkeys(related)), expression(here.file, finding.place.span))
