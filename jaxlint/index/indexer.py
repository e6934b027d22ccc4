"""Records of modules: taken from an earlier run where nothing has changed, else made from the syntax tree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from jaxlint.columns import split_lines
from jaxlint.digest import digest
from jaxlint.engine_codes import internal_error
from jaxlint.finding import Finding
from jaxlint.index.records import ModuleRecord
from jaxlint.index.table import ModuleEntry
from jaxlint.project.root import Project
from jaxlint.project.source import SourceError
from jaxlint.sources import Sources


class Indexed(NamedTuple):
    """A module's record as it is stored, in JSON. `key` stands for all it was made from, `content` for the text."""

    key: str
    content: str
    text: str


class Indexer:
    """Makes records when they are asked for.

    `indexed` are those that are known, by absolute path. `problems` are about modules that cannot be indexed: they
    define nothing.
    """

    def __init__(self, project: Project, sources: Sources, known: Mapping[str, Indexed]) -> None:
        self.indexed = dict(known)
        self.problems: dict[str, Finding] = {}
        self._project = project
        self._sources = sources

    def knows(self, entry: ModuleEntry) -> bool:
        """Whether the record need not be made."""
        known = self.indexed.get(entry.absolute)
        return known is not None and known.key == self.key(entry)

    def key(self, entry: ModuleEntry) -> str:
        """What a record depends on."""
        place = self._project.relative(entry.absolute)
        return digest(entry.digest, place, *entry.names, self._project.settings.kind)

    def take(self, entry: ModuleEntry, made: Indexed | Finding) -> None:
        """Know what another process has made of a module."""
        if isinstance(made, Indexed):
            self.indexed[entry.absolute] = made
        else:
            self.problems[entry.absolute] = made

    def record(self, entry: ModuleEntry) -> ModuleRecord:
        """The record of a module. Never raises."""
        if entry.absolute in self.problems:
            return ModuleRecord()
        if self.knows(entry):
            try:
                return ModuleRecord.from_json(json.loads(self.indexed[entry.absolute].text))
            except (
                KeyError,
                TypeError,
                AttributeError,
                ValueError,
                RecursionError,
            ):  # not what we have written
                del self.indexed[entry.absolute]
        try:
            record = self._made(entry)
        except SourceError as error:
            self.problems[entry.absolute] = error.finding(entry.path)
        except Exception as error:
            self.problems[entry.absolute] = internal_error(entry.path, error)
        else:
            text = json.dumps(record.to_json(), separators=(",", ":"))
            self.indexed[entry.absolute] = Indexed(self.key(entry), digest(text), text)
            return record
        return ModuleRecord()

    def _made(self, entry: ModuleEntry) -> ModuleRecord:
        from jaxlint.index.build import build
        from jaxlint.project.role import is_script, role

        text, _, tree, _ = self._sources.parsed(entry.absolute)
        assert tree is not None
        record = build(tree, entry.name, entry.is_package, text.isascii(), split_lines(text))
        place = self._project.relative(entry.absolute)
        module_role = role(tree, place, self._project.settings, script=is_script(text))
        record.is_test = module_role.value == "test"
        record.is_application = module_role.value == "application"
        record.loose = "." not in entry.name and not entry.is_package
        return record
