"""A run: which modules it is about, and the analysis of each, judged by the rules."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from jaxlint import memory
from jaxlint.engine_codes import internal_error
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
        known: Mapping[str, Indexed] | None = None,
    ) -> None:
        """`known` are records from an earlier run, by absolute path."""
        self.project = project
        self.rules = rules
        self.sources = Sources({file.absolute: file for file in files})
        self._contents, self.unreadable = self.sources.read_all(project.python_files())
        self._indexer = Indexer(project, self.sources, known or {})

    @cached_property
    def survey(self) -> Survey:
        found = Survey(self._contents, self.sources, self.project.root, self._indexer.record)
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
        by_path = {**self.unreadable, **self._indexer.problems}
        return [problem for path, problem in by_path.items() if path in self.sources.given]

    # ------------------------------------------------------------ analysing

    def outcome(self, root: ModuleEntry) -> Outcome:
        """What a run rooted at a module finds. Never raises."""
        outcome, lines = self._run(root)
        memory.note(lines)
        return outcome

    def _run(self, root: ModuleEntry) -> tuple[Outcome, int]:
        """The outcome, and how many lines were looked at."""
        analysis = self.analysis()
        seen = self.survey.table.seen
        seen.clear()
        try:
            found, lasting = self._findings(root, analysis), True
        except Exception as error:
            found, lasting = [internal_error(root.path, error)], False
        lasting = lasting and not self.sources.changed
        return Outcome(found, analysis.program.loaded, sorted(seen), lasting), analysis.program.lines

    def _findings(self, root: ModuleEntry, analysis: Analysis) -> list[Finding]:
        role = self.module_role(root)
        module = analysis.program.load(root)
        return self._judge.findings(analysis.facts(module, role), role) if module is not None else []

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

        return Judge(registry.pairs(self.rules), self.project, self._shown)

    @cached_property
    def _by_shown(self) -> dict[str, ModuleEntry]:
        return {entry.path: entry for entry in self.survey.table.entries.values()}

    def _shown(self, path: str) -> Source | None:
        entry = self._by_shown.get(path)
        return self._source(entry) if entry is not None else None

    def _parsed(self, entry: ModuleEntry) -> tuple[ast.Module, str] | None:
        source = self._source(entry)
        return (source.tree, source.text) if source is not None and source.tree is not None else None

    def _source(self, entry: ModuleEntry) -> Source | None:
        try:
            return self.sources.parsed(entry.absolute)
        except SourceError:
            return None
