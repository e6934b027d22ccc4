"""The project as the analysis sees it: modules loaded on demand, names resolved across them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from jaxlint.columns import split_lines
from jaxlint.finding import Place, Span
from jaxlint.flow.domain.classes import ClassInfo
from jaxlint.flow.domain.functions import Function, FunctionNode
from jaxlint.flow.domain.kinds import API, LAZY, MODULE
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.index.table import ModuleEntry, ModuleTable
from jaxlint.jax_api.categories import canonical

_api_values: dict[str, Value] = {}


def api(dotted: str) -> Value:
    """The value of a library name, one object for each."""
    known = _api_values.get(dotted)
    if known is None:
        known = _api_values[dotted] = Value(API, data=canonical(dotted))
    return known


class LoadedModule:
    """A module with its tree. `names` is its module-level environment once it has been evaluated."""

    __slots__ = (
        "ascii", "carried", "classes", "entry", "evaluating", "functions", "lines", "names", "path", "tree",
    )  # fmt: skip

    def __init__(self, entry: ModuleEntry, tree: ast.Module, source: str) -> None:
        self.entry = entry
        self.path = entry.path
        self.tree = tree
        self.ascii = source.isascii()
        self.lines = [] if self.ascii else split_lines(source)
        self.names: dict[str, Value] | None = None
        self.evaluating = False
        self.functions: dict[FunctionNode, Function] = {}
        self.classes: dict[ast.ClassDef, ClassInfo] = {}
        self.carried: dict[ast.AST, list[str]] = {}  # what each loop carries round, see flow.loops

    def place(self, node: ast.AST) -> Place:
        """Where a node stands, in code points from 1."""
        line, end = node.lineno, node.end_lineno  # type: ignore[attr-defined]  # every located node has them
        column, stop = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]  # as above
        if self.ascii:
            return Place(self.path, Span(line, column + 1, end, stop + 1))
        return Place(self.path, Span(line, self._column(line, column), end, self._column(end, stop)))

    def header(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Place:
        """The name in a `def` or `class` line."""
        word = {"FunctionDef": "def ", "AsyncFunctionDef": "async def ", "ClassDef": "class "}[
            type(node).__name__
        ]
        start = node.col_offset + len(word)
        if self.ascii:
            return Place(self.path, Span(node.lineno, start + 1, node.lineno, start + 1 + len(node.name)))
        first = self._column(node.lineno, start)
        return Place(self.path, Span(node.lineno, first, node.lineno, first + len(node.name)))

    def _column(self, line: int, offset: int) -> int:
        return (
            len(self.lines[line - 1].encode()[:offset].decode(errors="replace")) + 1
            if line <= len(self.lines)
            else 1
        )


class Program:
    """The modules that one run looks into, loaded when it first needs them."""

    def __init__(
        self, table: ModuleTable, parse: Callable[[ModuleEntry], tuple[ast.Module, str] | None]
    ) -> None:
        """`parse` gives tree and source of a module, or None when it cannot be analysed."""
        self.table = table
        self._parse = parse
        self._loaded: dict[str, LoadedModule | None] = {}
        self.lines = 0  # of the loaded modules
        self.field_uses: dict[Function, Any] = {}  # see flow.lent_fields
        self.evaluate_module: Callable[[LoadedModule], None] = lambda module: None

    def load(self, entry: ModuleEntry) -> LoadedModule | None:
        """A module with its tree; None when it cannot be analysed."""
        if entry.absolute not in self._loaded:
            parsed = self._parse(entry)
            self._loaded[entry.absolute] = LoadedModule(entry, *parsed) if parsed is not None else None
            if parsed is not None:
                self.lines += parsed[1].count("\n")
        return self._loaded[entry.absolute]

    @property
    def loaded(self) -> list[str]:
        """The absolute paths of the modules that were looked into."""
        return sorted(self._loaded)

    def environment(self, module: LoadedModule) -> dict[str, Value]:
        """A module's names, evaluated at the first call (partial during an import cycle)."""
        if module.names is None:
            module.names = {}
            self.evaluate_module(module)
        return module.names

    def imported(self, dotted: str, near: ModuleEntry) -> Value:
        """What an import binds. A name of the project is looked up when it is first used: that keeps a run
        over one file from loading all it imports, and import cycles harmless."""
        if (
            self.table.find(dotted, near) is None
        ):  # else a module of the project, which may be the library itself
            dotted = canonical(dotted)
        head = dotted.rpartition(".")[0]
        if self.table.find(dotted, near) is None and (not head or self.table.find(head, near) is None):
            return api(dotted)
        return Value(LAZY, data=(dotted, near))

    def force(self, lazy: Value) -> Value:
        """The value behind a lazy import."""
        if lazy.element is None:
            lazy.element = UNKNOWN_VALUE  # for a module that imports a name from itself
            lazy.element = self.resolve(*lazy.data)
        return lazy.element

    def resolve(self, dotted: str, near: ModuleEntry) -> Value:
        """A dotted name: a module or a name of the project, else a library name."""
        entry = self.table.find(dotted, near)
        if entry is not None:
            module = self.load(entry)
            return Value(MODULE, data=module) if module is not None else UNKNOWN_VALUE
        head, _, last = dotted.rpartition(".")
        owner = self.table.find(head, near) if head else None
        if owner is None:
            return api(dotted)
        return self.member(owner, last)

    def named(self, module: LoadedModule, dotted: str) -> Value | None:
        """What a module means by a dotted name, in an annotation for instance; None where it knows no such name."""
        head, *rest = dotted.split(".")
        found = (module.names or {}).get(head)
        for name in (None, *rest):
            if found is not None and name is not None:
                found = self.member(found.data.entry, name) if found.kind == MODULE else None
            if found is not None and found.kind == LAZY:
                found = self.force(found)
        return found

    def member(self, entry: ModuleEntry, name: str) -> Value:
        """A name of one of the project's modules, a submodule included."""
        module = self.load(entry)
        if module is None:
            return UNKNOWN_VALUE
        value = self.environment(module).get(name)
        if value is not None:
            return self.force(value) if value.kind == LAZY else value
        submodule = self.table.find(f"{entry.name}.{name}", entry)
        if submodule is not None and submodule is not entry:
            loaded = self.load(submodule)
            if loaded is not None:
                return Value(MODULE, data=loaded)
        star = [d[:-2] for d in entry.record.imports.values() if d.endswith(".*")]
        for dotted in star:
            found = self.table.find(dotted, entry)
            if found is not None and found is not entry and name in _defined(found):
                return self.member(found, name)
        return UNKNOWN_VALUE


def _defined(entry: ModuleEntry) -> set[str]:
    return {*entry.record.functions, *entry.record.classes, *entry.record.imports}
