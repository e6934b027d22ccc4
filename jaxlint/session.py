"""What one process holds during a run: sources, the project's table, the analysis, and the judging of facts."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from jaxlint import registry
from jaxlint.columns import split_lines
from jaxlint.engine_codes import INTERNAL_ERROR
from jaxlint.finding import Finding, Place, Span
from jaxlint.index.build import build
from jaxlint.index.gate import imported_by, imported_words, names_jax, through_project
from jaxlint.index.table import ModuleEntry, ModuleTable, module_names
from jaxlint.judge import Judge
from jaxlint.project.files import SourceFile, shown
from jaxlint.project.role import role
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings
from jaxlint.project.source import Source, SourceError, decode, parse, read_bytes
from jaxlint.rule import Rule

if TYPE_CHECKING:
    from jaxlint.flow.analysis import Analysis
    from jaxlint.flow.facts import ModuleRole

_LINES = 100_000  # of loaded modules; an `ast` tree takes about 1.2 kB a line


class Session:
    """A run's state. `roots` are the modules to analyse, `problems` the JAX001 findings of the given files."""

    def __init__(
        self, files: Sequence[SourceFile], project: Project, settings: Settings, rules: Sequence[Rule]
    ) -> None:
        self.project = project
        self.settings = settings
        self.rules = rules
        self.files = {file.absolute: file for file in files}
        self.problems: list[Finding] = []
        self.support: set[str] = set()  # modules that name nothing of JAX but are imported by some that do
        self._sources: dict[str, Source] = {}
        self._held = 0
        self._read_all()
        self._judge = Judge(registry.pairs(rules), self)
        self.roots = self._choose_roots()

    # ------------------------------------------------------------ reading

    def _read_all(self) -> None:
        """Read and gate every file of the project, index what passes."""
        paths = sorted({*self.project.python_files(), *self.files})
        passed: dict[str, bytes] = {}
        others: dict[str, set[bytes]] = {}
        contents: dict[str, bytes] = {}
        for path in paths:
            file = self.files.get(path) or SourceFile(shown(path), path)
            try:
                data = read_bytes(file)
            except SourceError as error:
                self._problem(file, error)
                continue
            contents[path] = data
            if names_jax(data):
                passed[path] = data
            else:
                others[path] = imported_words(data)
        stems = {path: _stem(path) for path in contents}
        for path in through_project(passed, others, stems):
            passed[path] = contents[path]
        self._check_ungated(contents, passed)
        for path in imported_by(passed, others, stems):
            self.support.add(path)
            passed[path] = contents[path]
        entries = [entry for path in sorted(passed) if (entry := self._entry(path, passed[path])) is not None]
        self.table = ModuleTable(entries, self.project.root)
        self.table.x64_elsewhere = self.project.names_x64

    def _check_ungated(self, contents: dict[str, bytes], passed: dict[str, bytes]) -> None:
        """A given file that is let go must still be one that could have been read."""
        for path, file in self.files.items():
            if path in contents and path not in passed:
                try:
                    decode(contents[path])
                except SourceError as error:
                    self._problem(file, error)

    def _entry(self, path: str, data: bytes) -> ModuleEntry | None:
        file = self.files.get(path) or SourceFile(shown(path), path, data)
        try:
            text, encoding = decode(data)
            tree = file.tree or parse(text)
        except SourceError as error:
            self._problem(file, error)
            return None
        self._hold(path, Source(text, encoding, tree))
        names, is_package = module_names(path, self.project.root or os.path.dirname(path))
        entry = ModuleEntry(file.path, path, names, is_package, "")
        entry.record = build(tree, names[0], is_package, text.isascii(), split_lines(text))
        module_role = role(tree, self.project.relative(path), self.settings, shebang=text.startswith("#!"))
        entry.record.is_test = module_role.value == "test"
        entry.record.is_application = module_role.value == "application"
        entry.record.names_x64 = "x64" in text.lower()
        entry.record.loose = "." not in names[0] and not is_package
        return entry

    def _problem(self, file: SourceFile, error: SourceError) -> None:
        if file.absolute in self.files:
            self.problems.append(error.finding(file.path))

    def _hold(self, path: str, source: Source) -> None:
        self._sources[path] = source
        self._held += source.text.count("\n")
        if self._held > _LINES:
            self._sources = {path: source}
            self._held = source.text.count("\n")

    def source(self, path: str) -> Source | None:
        """Text and tree of a module by absolute path; None when it cannot be read any more."""
        held = self._sources.get(path)
        if held is None:
            file = self.files.get(path) or SourceFile(shown(path), path)
            try:
                text, encoding = decode(read_bytes(file))
                held = Source(text, encoding, file.tree or parse(text))
            except SourceError:
                return None
            self._hold(path, held)
        return held

    # ------------------------------------------------------------ analysing

    def _choose_roots(self) -> list[ModuleEntry]:
        """The given modules, and those that import them: what they trace lies in the given ones too."""
        able = [entry for path, entry in self.table.entries.items() if path not in self.support]
        given = [entry for entry in able if entry.absolute in self.files]
        if len(given) == len(able):
            return given
        importers: dict[str, list[ModuleEntry]] = {}
        for entry in self.table.entries.values():
            for imported in self.table.imported_modules(entry):
                importers.setdefault(imported.absolute, []).append(entry)
        chosen = {entry.absolute: entry for entry in given}
        pending = list(given)
        while pending:
            for importer in importers.get(pending.pop().absolute, ()):
                if importer.absolute not in chosen:
                    chosen[importer.absolute] = importer
                    pending.append(importer)
        return [chosen[path] for path in sorted(chosen)]

    def findings(self, root: ModuleEntry) -> list[Finding]:
        """What the rules say of a run rooted at one module, wherever it lies. Never raises."""
        try:
            module = self.analysis.program.load(root)
            if module is None:
                return []
            module_role = self.module_role(root)
            found = self._judge.findings(self.analysis.facts(module, module_role), module_role)
        except Exception as error:
            return [internal_error(root.path, error)]
        self.make_room()
        return found

    @cached_property
    def analysis(self) -> Analysis:
        """The analysis of this project's modules."""
        from jaxlint.flow.analysis import Analysis
        from jaxlint.flow.program import Program

        return Analysis(Program(self.table, self._parsed))

    def make_room(self) -> None:
        """Forget all modules between two roots, once they are many. What was loaded is not to be used again."""
        if self.analysis.program.lines > _LINES:
            self.analysis.forget()
            self._sources.clear()
            self._held = 0

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
        importers = self.table.all_importers(entry)
        return bool(importers) and all(i.record.is_application or i.record.is_test for i in importers)

    def _parsed(self, entry: ModuleEntry) -> tuple[ast.Module, str] | None:
        source = self.source(entry.absolute)
        return (source.tree, source.text) if source is not None and source.tree is not None else None

    def by_shown_path(self, path: str) -> Source | None:
        """Text and tree of a module by the path that facts carry."""
        entry = self._shown().get(path)
        return self.source(entry.absolute) if entry is not None else None

    def _shown(self) -> dict[str, ModuleEntry]:
        if not hasattr(self, "_by_shown"):
            self._by_shown = {entry.path: entry for entry in self.table.entries.values()}
        return self._by_shown


def _stem(path: str) -> bytes:
    folder, name = os.path.split(path)
    stem = os.path.splitext(name)[0]
    return (os.path.basename(folder) if stem == "__init__" else stem).encode()


def internal_error(path: str, error: BaseException) -> Finding:
    """JAX000 for a file whose analysis failed."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return INTERNAL_ERROR.finding(Place(path, Span(1, 1, 1, 1)), f"internal error: {text}")
