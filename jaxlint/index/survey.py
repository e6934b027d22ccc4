"""The modules of a project that can matter, and which of them a run is about, before anything is parsed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping

from jaxlint.digest import digest
from jaxlint.index.gate import import_text, imported_names, names_jax
from jaxlint.index.naming import module_names
from jaxlint.index.records import ModuleRecord
from jaxlint.index.table import ModuleEntry, ModuleTable
from jaxlint.sources import Sources

# Speaks of 64-bit mode (`jax_enable_x64`, `with_x64`): "complex64" and "64x64" do not.
_X64 = re.compile(rb"(?<!comple)(?<!\d)x64", re.IGNORECASE)


class Survey:
    """What a project's files say of themselves to a byte search.

    `table` has all modules. `roots` are those that a run over everything analyses: they name JAX, or import one
    that does. What these take from the others is known too, when it is asked for.
    """

    def __init__(
        self,
        contents: Mapping[str, bytes],
        sources: Sources,
        root: str,
        load: Callable[[ModuleEntry], ModuleRecord],
        top: Callable[[str], str] = os.path.dirname,
    ) -> None:
        """`contents` are by absolute path; `root` is the project's, "" when it has none: then `top` is the
        directory from which a file may be imported by its longest name."""
        packages: dict[str, bool] = {}
        texts: dict[str, str] = {}
        entries = []
        for path, data in contents.items():
            names, is_package = module_names(path, root or top(path), packages)
            entries.append(
                ModuleEntry(sources.file(path).path, path, names, is_package, sources.digests[path], load)
            )
            texts[path] = import_text(data)
        self.table = ModuleTable(entries, root)
        takers = self._link(texts)
        naming = [self.table.entries[path] for path, data in contents.items() if names_jax(data)]
        self._takers = takers
        self.roots = _reached(naming, takers)
        for entry in entries:
            entry.is_root = False
        for entry in self.roots:
            entry.is_root = True
        self._group(texts, root)
        self.table.layout = digest(
            *(entry.absolute.removeprefix(root) for entry in self.table.entries.values())
        )
        concerned = [contents[entry.absolute] for entry in entries if entry.group]
        self.table.names_x64 = any(_X64.search(data) for data in concerned)
        self.table.sets_start_method = any(b"set_start_method" in data for data in concerned)

    def roots_of(self, given: Collection[str]) -> list[ModuleEntry]:
        """The roots among the given files (absolute paths), and those that take something from these: what they
        trace lies in the given ones too."""
        of_given = [entry for entry in self.roots if entry.absolute in given]
        wanted = {entry.absolute for entry in _reached(of_given, self._takers)}
        return [entry for entry in self.roots if entry.absolute in wanted]

    def _link(self, texts: Mapping[str, str]) -> dict[str, list[ModuleEntry]]:
        """Fill in what each module imports; who takes something from a module, by its path."""
        find = self.table.find
        takers: dict[str, list[ModuleEntry]] = {}
        for entry in self.table.entries.values():
            taken, imports = {}, {}
            for candidates in imported_names(texts[entry.absolute], entry.name, entry.is_package):
                for dotted in candidates:
                    found = find(dotted, entry)
                    if found is None:
                        continue
                    taken[found.absolute] = imports[found.absolute] = found
                    while dotted := dotted.rpartition(".")[0]:  # the packages around it run first
                        found = find(dotted, entry)
                        if found is not None:
                            imports[found.absolute] = found
                    break
            imports.pop(entry.absolute, None)
            entry.imports = list(imports.values())
            for path in taken:
                takers.setdefault(path, []).append(entry)
        return takers

    def _group(self, texts: Mapping[str, str], root: str) -> None:
        """Give groups to the roots and to what they import, named after all that tells how names are resolved."""
        neighbours: dict[str, list[ModuleEntry]] = {}
        imported = _reached(self.roots, {path: entry.imports for path, entry in self.table.entries.items()})
        for entry in imported:
            for other in entry.imports:
                neighbours.setdefault(entry.absolute, []).append(other)
                neighbours.setdefault(other.absolute, []).append(entry)
        for entry in imported:
            if not entry.group:
                members = _reached([entry], neighbours)
                telling = ((m.absolute.removeprefix(root), *m.names, texts[m.absolute]) for m in members)
                group = digest(*(part for parts in telling for part in parts))
                for member in members:
                    member.group = group


def _reached(start: Iterable[ModuleEntry], onward: Mapping[str, list[ModuleEntry]]) -> list[ModuleEntry]:
    """The modules that some lead to, themselves included, by path."""
    found: dict[str, ModuleEntry] = {}
    pending = list(start)
    while pending:
        entry = pending.pop()
        if entry.absolute not in found:
            found[entry.absolute] = entry
            pending += onward.get(entry.absolute, ())
    return [found[path] for path in sorted(found)]
