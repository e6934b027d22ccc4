"""What earlier runs found, as far as it still holds.

Kept are what whole runs found, for a run over a tree in which nothing has changed; the outcome of each root, which
holds as long as nothing has changed that its analysis looked into; and the record of each module, without which a
run over one file would have to parse the whole project.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint.digest import digest
from jaxlint.finding import Finding
from jaxlint.index.indexer import Indexed
from jaxlint.index.table import ModuleEntry
from jaxlint.project import stored
from jaxlint.project.cache import Cache, directory, environment, fingerprint
from jaxlint.project.root import Project
from jaxlint.project.toml import TomlError
from jaxlint.record import replace
from jaxlint.rule import Rule
from jaxlint.session import Outcome, Session


class Earlier:
    """The cache of one project for one set of rules."""

    def __init__(self, project: Project, rules: Sequence[Rule], directory: str) -> None:
        """Raises TomlError where the project's versions cannot be told."""
        self._project = project
        self._cache = Cache(directory)
        program = fingerprint(rule.meta.page for rule in rules)
        # These make no difference to what is found.
        settings = replace(project.settings, jobs=0, output_format="", cache_dir="", baseline="")
        versions = project.requires_python, project.jax_version, project.equinox_version, project.flax_version
        self._judged = digest(
            program,
            environment(),
            repr([rule.meta.code for rule in rules]),
            repr((settings, project.names_x64(), versions, sorted(project.commands))),
        )
        self._records_key = digest("records", program, project.root)
        self._outcomes_key = digest("outcomes", self._judged, project.root)
        self._records: Mapping[str, Indexed] | None = None
        self._outcomes: Mapping[str, Any] | None = None

    # ------------------------------------------------------------ whole runs

    def run(self, session: Session) -> list[Finding] | None:
        """What the very same run found."""
        return stored.from_json(self._cache.get(self._run_key(session)))

    def _run_key(self, session: Session) -> str:
        sources = session.sources
        return digest(
            "run",
            self._judged,
            self._project.root,
            repr([(path, file.path) for path, file in sorted(sources.given.items())]),
            repr([(path, problem.message) for path, problem in sorted(session.unreadable.items())]),
            repr(sorted(sources.digests.items())),
        )

    def keep(self, session: Session, outcomes: Mapping[str, Outcome], findings: Sequence[Finding]) -> None:
        """Remember what a run has found, all in all and by root (absolute path)."""
        self.keep_parts(session, outcomes)
        if all(outcome.lasting for outcome in outcomes.values()):
            self._cache.put(self._run_key(session), stored.to_json(findings))
        self._cache.prune()

    def keep_parts(self, session: Session, outcomes: Mapping[str, Outcome]) -> None:
        """Remember the outcomes of roots (absolute paths) and the records of modules."""
        self._keep_records(session)
        self._keep_outcomes(outcomes, session)

    # ------------------------------------------------------------ roots

    def outcome(self, root: ModuleEntry, session: Session) -> Outcome | None:
        """The outcome of a root, if it would be the same today."""
        if self._outcomes is None:
            self._outcomes = _table(self._cache.get(self._outcomes_key))
        try:
            state, read, seen, findings = self._outcomes[self._project.relative(root.absolute)]
            outcome = Outcome(stored.from_json(findings) or [], self._absolute(read), self._absolute(seen))
            return outcome if state == _state(root, outcome, session) else None
        except (
            TypeError,
            ValueError,
            KeyError,
            AttributeError,
        ):  # not what we have written, or a file is gone
            return None

    def _keep_outcomes(self, outcomes: Mapping[str, Outcome], session: Session) -> None:
        """Those of modules that are gone are forgotten."""
        entries = session.survey.table.entries
        names = {path: self._project.relative(path) for path in entries}
        known = _table(self._cache.get(self._outcomes_key))  # other runs may have written since
        kept = {name: known[name] for name in names.values() if name in known}
        for path, outcome in outcomes.items():
            if outcome.lasting and path not in session.broken:  # what is wrong with it is no part of it
                read, seen = ([names[each] for each in part] for part in (outcome.read, outcome.seen))
                state = _state(entries[path], outcome, session)
                kept[names[path]] = state, read, seen, stored.to_json(outcome.findings)
        self._cache.put(self._outcomes_key, kept)

    # ------------------------------------------------------------ records

    def records(self) -> Mapping[str, Indexed]:
        """The records of the project's modules, by absolute path."""
        if self._records is None:
            rows = _table(self._cache.get(self._records_key))
            self._records = {
                self._absolute([name])[0]: Indexed(*row)
                for name, row in rows.items()
                if isinstance(row, list) and len(row) == 3 and all(isinstance(part, str) for part in row)
            }
        return self._records

    def _keep_records(self, session: Session) -> None:
        paths = session.survey.table.entries
        indexed = {path: session.indexed[path] for path in paths if path in session.indexed}
        if indexed != self.records():
            rows = {self._project.relative(path): record for path, record in indexed.items()}
            self._cache.put(self._records_key, rows)

    def _absolute(self, names: Sequence[str]) -> list[str]:
        return [os.path.normpath(os.path.join(self._project.root or os.sep, name)) for name in names]


def earlier_runs(project: Project, rules: Sequence[Rule]) -> Earlier | None:
    """The cache of a project; None where there is no place for it, or no telling what findings depend on."""
    place = directory(project)
    try:
        return Earlier(project, rules, place) if place else None
    except TomlError:
        return None


def _table(data: Any) -> dict[str, Any]:
    return data if isinstance(data, dict) else {}


def _state(root: ModuleEntry, outcome: Outcome, session: Session) -> str:
    """All that an outcome depends on, as it is now. Raises KeyError when a module is gone.

    Names are resolved by where the modules lie and by what they import; beyond that count the sources that were
    read and the records that were asked for.
    """
    table = session.survey.table
    parts = [root.path, root.group, table.layout, repr((table.names_x64, table.sets_start_method))]
    for path in outcome.read:
        parts += [table.entries[path].path, table.entries[path].digest]
    for path in outcome.seen:
        parts += [table.entries[path].path, session.content_of_record(table.entries[path])]
    return digest(*parts)
