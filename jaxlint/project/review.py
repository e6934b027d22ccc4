"""What a change has to do with: findings on its lines, and those whose cause is there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from jaxlint.dependencies.names import format_of
from jaxlint.engine_codes import FAILURES
from jaxlint.finding import Applicability, Finding, Place
from jaxlint.project import source
from jaxlint.project.files import SourceFile
from jaxlint.project.removed import NewText
from jaxlint.project.unified_diff import Change
from jaxlint.record import replace


class Review:
    """The findings of a run, seen by somebody who reads a diff."""

    def __init__(self, changes: Mapping[str, Change], files: Iterable[SourceFile]) -> None:
        """`changes` by real path."""
        self._changes = changes
        self._files = {file.path: file for file in files}
        self._texts: dict[str, NewText] = {}

    def narrow(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that the change concerns, without the fixes that reach beyond what the diff shows."""
        return [self._within(finding) for finding in findings if self._concerns(finding)]

    def _concerns(self, finding: Finding) -> bool:
        """Whether the change touches a finding or what explains it. A file that fails does as a whole."""
        if finding.code in FAILURES:
            return self._change(finding.path) is not None
        places = (finding.place, *(related.place for related in finding.related))
        return any(map(self._is_touched, places)) or self._was_held_back(finding)

    def _is_touched(self, place: Place) -> bool:
        change = self._change(place.path)
        if change is None:
            return False
        if change.touches(*self._lines(place)):
            return True
        return bool(change.removals) and self._text(place.path).stood_beside(change, place.span)

    def _was_held_back(self, finding: Finding) -> bool:
        """Whether the change took out a comment that suppressed a finding."""
        change = self._change(finding.path)
        if change is None or not change.removals:
            return False
        return self._text(finding.path).suppressed(change, finding)

    def _within(self, finding: Finding) -> Finding:
        fix = finding.fix
        if fix is None or fix.applicability is Applicability.DISPLAY:
            return finding
        change = self._change(finding.path)
        shown = change is not None and change.shows(*fix.lines)
        return finding if shown else replace(finding, fix=None)

    def _change(self, path: str) -> Change | None:
        file = self._files.get(path)
        return self._changes.get(file.absolute if file else os.path.realpath(path))

    def _lines(self, place: Place) -> tuple[int, int]:
        """The first and the last line of a place. Of a loop or a function it is the header that was meant."""
        span = place.span
        last = span.end_line - 1 if span.end_column == 1 and span.end_line > span.line else span.end_line
        if last == span.line:
            return span.line, last
        stretch = self._text(place.path).around(span)
        return span.line, min(last, stretch.last) if stretch and stretch.header else last

    def _text(self, path: str) -> NewText:
        if path not in self._texts:
            read = source.read(self._files.get(path) or SourceFile(path, os.path.realpath(path)))
            self._texts[path] = NewText(read.text, read.tree, python=not format_of(path))
        return self._texts[path]


def by_real_path(
    changes: Mapping[str, Change], directories: Iterable[str], exists: Callable[[str], bool] = os.path.lexists
) -> dict[str, Change]:
    """Changes by the real paths of their files, which lie in the first of some directories that has them."""
    found: dict[str, Change] = {}
    for path, change in changes.items():
        candidates = [os.path.join(directory, path) for directory in directories]
        chosen = next(filter(exists, candidates), candidates[0])
        found[os.path.realpath(chosen)] = change
    return found
