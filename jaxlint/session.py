"""A run: which modules it is about, and the analysis of each, judged by the rules."""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from jaxlint import memory
from jaxlint.engine_codes import INTERNAL_ERROR, internal_error
from jaxlint.finding import Finding
from jaxlint.index.indexer import Indexed, Indexer
from jaxlint.index.survey import Survey
from jaxlint.index.table import ModuleEntry
from jaxlint.project.files import SourceFile
from jaxlint.project.root import Project
from jaxlint.project.source import Source, SourceError
from jaxlint.rule import Rule
from jaxlint.sources import Sources

if TYPE_CHECKING:
    from jaxlint.flow.analysis import Analysis
    from jaxlint.flow.facts import ModuleRole
    from jaxlint.judge import Judge


class Outcome(NamedTuple):
    """What a run rooted at one module found, wherever it lies, and what that depends on.

    `read` are the modules (absolute paths) whose source it looked into, `seen` those whose record it asked for.
    An outcome that is not `lasting` is no truth about the sources: it is not to be kept.
    """

    findings: list[Finding]
    read: list[str]
    seen: list[str]
    lasting: bool = True


class Session:
    """The modules of a project, and how to analyse them one by one.

    `roots` are the modules to analyse for the given files. Each is analysed by itself: nothing that one leaves
    behind is seen by another, so that neither their order nor what is left out makes a difference.
    """

    def __init__(
        self,
        files: Sequence[SourceFile],
        project: Project,
        rules: Sequence[Rule],
        known: Callable[[], Mapping[str, Indexed]] = dict,
    ) -> None:
        """`known` gives records from an earlier run, by absolute path."""
        self.project = project
        self.rules = rules
        self.sources = Sources({file.absolute: file for file in files})
        self._contents, self.unreadable = self.sources.read_all(project.python_files())
        self._known = known

    def __getstate__(self) -> dict[str, Any]:
        """For another process: without what each makes for itself."""
        own = ("_judge", "_by_shown", "_known")
        return {**{k: v for k, v in self.__dict__.items() if k not in own}, "_known": dict}

    @cached_property
    def _indexer(self) -> Indexer:
        return Indexer(self.project, self.sources, self._known())

    @cached_property
    def survey(self) -> Survey:
        found = Survey(
            self._contents, self.sources, self.project.root, self._indexer.record, self.project.top
        )
        found.table.names_x64 = found.table.names_x64 or self.project.names_x64()
        self._contents.clear()
        return found

    @cached_property
    def roots(self) -> list[ModuleEntry]:
        """Sorted by path."""
        return self.survey.roots_of(self.sources.given)

    @property
    def problems(self) -> list[Finding]:
        """What is wrong with given files as such. Complete once all roots are analysed."""
        return [problem for path, problem in self.broken.items() if path in self.sources.given]

    @property
    def broken(self) -> dict[str, Finding]:
        """The modules that cannot be read or indexed, and why, by absolute path."""
        return {**self.unreadable, **self._indexer.problems}

    @property
    def indexed(self) -> Mapping[str, Indexed]:
        """The records that are known, by absolute path."""
        return self._indexer.indexed

    def content_of_record(self, entry: ModuleEntry) -> str:
        """What stands for all that a module defines, "" when it cannot be told."""
        if not self._indexer.knows(entry):
            _ = entry.unseen_record
        found = self._indexer.indexed.get(entry.absolute)
        return found.content if found is not None else ""

    # ------------------------------------------------------------ indexing

    def unindexed(self) -> list[str]:
        """The modules whose records are needed, and have to be made."""
        groups = {root.group for root in self.roots}
        entries = self.survey.table.entries.items()
        return [
            path
            for path, entry in entries
            if entry.is_root and entry.group in groups and not self._indexer.knows(entry)
        ]

    def index(self, path: str) -> Indexed | Finding:
        """The record of a module, or what is wrong with it. Never raises."""
        _ = self.survey.table.entries[path].unseen_record
        return self._indexer.problems.get(path) or self._indexer.indexed[path]

    def take(self, path: str, indexed: Indexed | Finding) -> None:
        """Know what another process has made of a module: its record, or what is wrong with it."""
        self._indexer.take(self.survey.table.entries[path], indexed)

    def prepare_for_copies(self, number: int) -> None:
        """Get ready to be copied into so many processes: they share what is there, and hold less each."""
        for path, entry in self.survey.table.entries.items():
            if path in self.indexed or entry.is_root:
                _ = entry.unseen_record
        _ = self._judge
        self.sources.share(number)
        gc.freeze()

    # ------------------------------------------------------------ analysing

    def outcome(self, path: str) -> Outcome:
        """What a run rooted at a module finds. Never raises."""
        outcome, lines = self._run(self.survey.table.entries[path])
        memory.note(lines)
        return outcome

    def failure(self, path: str, reason: str) -> Finding:
        """What is reported of a module that another process did not come to an end with."""
        return internal_error(self.survey.table.entries[path].path, reason)

    def _run(self, root: ModuleEntry) -> tuple[Outcome, int]:
        """The outcome, and how many lines were looked at."""
        judge = self._judge  # a rule that cannot be used ends the run
        analysis = self.analysis()
        seen = self.survey.table.seen
        seen.clear()
        try:
            found = self._findings(root, analysis, judge)
        except Exception as error:
            found = [internal_error(root.path, error)]
        lasting = not self.sources.changed and all(f.code != INTERNAL_ERROR.code for f in found)
        return Outcome(found, analysis.program.loaded, sorted(seen), lasting), analysis.program.lines

    def _findings(self, root: ModuleEntry, analysis: Analysis, judge: Judge) -> list[Finding]:
        role = self.module_role(root)
        module = analysis.program.load(root)
        return judge.findings(analysis.facts(module, role), role) if module is not None else []

    def analysis(self) -> Analysis:
        """An analysis to run one root in."""
        from jaxlint.flow.analysis import Analysis
        from jaxlint.flow.program import Program

        return Analysis(Program(self.survey.table, self._parsed))

    def module_role(self, entry: ModuleEntry) -> ModuleRole:
        """Whether a module is a test, an application or part of a library."""
        from jaxlint.flow.facts import ModuleRole

        if entry.record.is_test:
            return ModuleRole.TEST
        return ModuleRole.APPLICATION if self._is_application(entry) else ModuleRole.LIBRARY

    def _is_application(self, entry: ModuleEntry) -> bool:
        """An application, or a loose module that only applications import."""
        if entry.record.is_application or not entry.record.loose:
            return entry.record.is_application
        importers = self.survey.table.all_importers(entry)
        return bool(importers) and all(i.record.is_application or i.record.is_test for i in importers)

    @cached_property
    def _judge(self) -> Judge:
        from jaxlint import registry
        from jaxlint.judge import Judge

        return Judge(registry.pairs(self.rules), self.project, self._shown, self._taken, self._own_imports)

    @cached_property
    def _by_shown(self) -> dict[str, ModuleEntry]:
        return {entry.path: entry for entry in self.survey.table.entries.values()}

    def _shown(self, path: str) -> Source | None:
        entry = self._by_shown.get(path)
        return self._source(entry) if entry is not None else None

    def _taken(self, path: str) -> frozenset[str]:
        entry = self._by_shown.get(path)
        return self.survey.table.names_taken(entry) if entry is not None else frozenset()

    def _own_imports(self, path: str) -> frozenset[str]:
        entry = self._by_shown.get(path)
        if entry is None:
            return frozenset()
        table, imports = self.survey.table, entry.unseen_record.imports
        return frozenset(
            name
            for name, dotted in imports.items()
            if table.find(dotted, entry) or table.definition(dotted, entry)
        )

    def _parsed(self, entry: ModuleEntry) -> tuple[ast.Module, str] | None:
        source = self._source(entry)
        return (source.tree, source.text) if source is not None and source.tree is not None else None

    def _source(self, entry: ModuleEntry) -> Source | None:
        try:
            return self.sources.parsed(entry.absolute)
        except SourceError:
            return None
