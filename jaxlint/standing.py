"""A project that somebody checks file by file: what was read and found for one file serves for the next."""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from jaxlint.earlier import earlier_runs
from jaxlint.finding import Finding, Place, Related
from jaxlint.project.deep import with_deep_stack
from jaxlint.project.files import SourceFile, shown
from jaxlint.project.root import Project
from jaxlint.project.source import SourceError, decode
from jaxlint.record import replace
from jaxlint.rule import Rule
from jaxlint.session import Outcome, Session

_FRESH = 1.0  # seconds for which the project is taken to be as it was last seen
_PAUSE = 2.0  # seconds at least between two times that outcomes are written

_standing: WeakKeyDictionary[Project, Standing] = WeakKeyDictionary()


def standing(project: Project, rules: Sequence[Rule]) -> Standing:
    """What is known of a project in this process."""
    known = _standing.get(project)
    if known is None:
        known = _standing[project] = Standing(project, rules)
        atexit.register(known.save)
    return known


class Standing:
    """A session about all files of a project, renewed when one of them changes, and the outcomes so far."""

    def __init__(self, project: Project, rules: Sequence[Rule]) -> None:
        self._project = project
        self._rules = rules
        self._earlier = earlier_runs(project, rules)
        self._session: Session | None = None
        self._outcomes: dict[str, Outcome] = {}
        self._state: list[tuple[str, int, int]] = []
        self._looked_at = self._saved_at = time.monotonic()
        self._pause = _PAUSE
        self._unsaved = False

    def findings(self, file: SourceFile) -> list[Finding] | None:
        """What is found in a file and, with it, elsewhere; None where it is not what lies in the project."""
        session = self._current()
        entry = session.survey.table.entries.get(file.absolute)
        if entry is None or not _is_same(file, session):
            return None
        roots = session.survey.roots_of({file.absolute})
        outcomes = with_deep_stack(lambda: [self._outcome(root.absolute, session) for root in roots])
        self._save_sometimes()
        problem = session.broken.get(file.absolute)
        found = [problem] if problem is not None else []
        found += [finding for outcome in outcomes for finding in outcome.findings]
        return [_renamed(finding, entry.path, file.path) for finding in found]

    def save(self) -> None:
        """Write what was found to the cache, for other processes and later runs."""
        if self._unsaved and self._earlier is not None and self._session is not None:
            self._unsaved = False
            self._earlier.keep_parts(self._session, self._outcomes)

    def _save_sometimes(self) -> None:
        begin = time.monotonic()
        if begin - self._saved_at > self._pause:
            self.save()
            self._saved_at = time.monotonic()
            self._pause = max(_PAUSE, 20 * (self._saved_at - begin))

    def _outcome(self, path: str, session: Session) -> Outcome:
        known = self._outcomes.get(path)
        if known is None and self._earlier is not None:
            known = self._earlier.outcome(session.survey.table.entries[path], session)
        if known is None:
            known = session.outcome(path)
            self._unsaved = True
        self._outcomes[path] = known
        return known

    def _current(self) -> Session:
        """The session about the project as it is, or was a moment ago."""
        if self._session is None or time.monotonic() - self._looked_at > _FRESH:
            self._project.look_again()
            state = [found for path in self._project.python_files() if (found := _stat(path)) is not None]
            if self._session is None or state != self._state:
                self._session = self._begin([path for path, _, _ in state])
                self._state = state
            self._looked_at = time.monotonic()
        return self._session

    def _begin(self, paths: Sequence[str]) -> Session:
        self._outcomes.clear()
        files = [SourceFile(shown(path), os.path.realpath(path)) for path in paths]
        return Session(files, self._project, self._rules, self._earlier.records if self._earlier else dict)


def _stat(path: str) -> tuple[str, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return path, found.st_mtime_ns, found.st_size


def _is_same(file: SourceFile, session: Session) -> bool:
    """Whether a file as it was handed over is what lies on disk, the kind of its line ends aside."""
    if file.data is None:
        return True
    try:
        here, there = decode(file.data)[0], decode(session.sources.read(file.absolute))[0]
    except SourceError:
        return False
    return _plain(here) == _plain(there)


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _renamed(finding: Finding, path: str, name: str) -> Finding:
    """The finding under the name by which the host knows the file."""

    def named(place: Place) -> Place:
        return Place(name, place.span) if place.path == path else place

    related = tuple(Related(named(each.place), each.message) for each in finding.related)
    return replace(finding, place=named(finding.place), related=related)
