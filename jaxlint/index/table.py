"""The project's modules together: which file a dotted name means, who imports what, who calls whom."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from jaxlint.index.records import CallSite, FunctionRecord, ModuleRecord

_DEPTH = 4  # how far re-exports and callers are followed

# Names that mean the library or the standard library wherever they are imported, unless the project is that
# library itself: `pkg/ops/jax.py` is not what `import jax` gives.
_TAKEN = sys.stdlib_module_names | {
    "brax", "chex", "diffrax", "distrax", "equinox", "flax", "haiku", "jax", "jaxlib", "jaxtyping", "lineax",
    "numpy", "numpyro", "optax", "optimistix", "orbax", "penzai", "scipy", "tensorflow", "torch", "tqdm",
}  # fmt: skip


@dataclass(slots=True)
class ModuleEntry:
    """A module of the project: where it lies, how it may be imported, what it defines."""

    path: str  # as shown to the user
    absolute: str
    names: tuple[str, ...]  # importable names, shortest first
    is_package: bool
    digest: str
    record: ModuleRecord = field(default_factory=ModuleRecord)

    @property
    def name(self) -> str:
        return self.names[0]

    def base(self, dotted: str) -> str:
        """The directory that has to be on the path for one of the module's names to be importable."""
        directory = os.path.dirname(self.absolute)
        for _ in range(dotted.count(".") + self.is_package):
            directory = os.path.dirname(directory)
        return directory


class ModuleTable:
    """Looks names up across modules. Two files may answer to one name: the nearest to the importer wins."""

    def __init__(self, entries: list[ModuleEntry], root: str = "") -> None:
        """`root` is the project's, "" when it has none."""
        self._bases = {root, os.path.join(root, "src")} if root else set()
        self.entries = {entry.absolute: entry for entry in sorted(entries, key=lambda e: e.absolute)}
        self._by_name: dict[str, list[ModuleEntry]] = {}
        for entry in self.entries.values():
            for name in entry.names:
                self._by_name.setdefault(name, []).append(entry)
        self._found: dict[tuple[str, str], ModuleEntry | None] = {}
        self._importers: dict[tuple[str, str], list[tuple[ModuleEntry, str]]] | None = None
        self.x64_elsewhere: Callable[[], bool] = lambda: False  # in files that are no modules

    @cached_property
    def names_x64(self) -> bool:
        """Whether the project speaks of 64-bit mode anywhere: then it may well be on."""
        return any(entry.record.names_x64 for entry in self.entries.values()) or self.x64_elsewhere()

    @cached_property
    def sets_start_method(self) -> bool:
        """Whether a module of the project says how processes are started."""
        return any("set_start_method" in entry.record.calls for entry in self.entries.values())

    def find(self, dotted: str, near: ModuleEntry) -> ModuleEntry | None:
        """The module a dotted name means when `near` imports it."""
        candidates = self._by_name.get(dotted)
        if candidates is None:
            return None
        head = dotted.partition(".")[0]
        if len(candidates) == 1 and head not in _TAKEN:
            return candidates[0]
        key = (dotted, os.path.dirname(near.absolute))
        if key not in self._found:
            if head in _TAKEN:
                candidates = [c for c in candidates if self._is_library(c, dotted, head, near)]
            others = [c for c in candidates if c is not near] or candidates
            self._found[key] = max(
                others, key=lambda c: (_shared(c.absolute, near.absolute), -len(c.absolute)), default=None
            )
        return self._found[key]

    def _is_library(self, module: ModuleEntry, dotted: str, head: str, near: ModuleEntry) -> bool:
        """Whether a module of a library's name is that library's, which the project then is."""
        base = module.base(dotted)
        own = near.name.partition(".")[0] == head and near.base(near.name) == base
        return own or base in self._bases

    def definition(self, dotted: str, near: ModuleEntry, depth: int = 0) -> tuple[ModuleEntry, str] | None:
        """(module, name) where `dotted` is really defined, re-exports followed; None outside the project."""
        head, _, last = dotted.rpartition(".")
        module = self.find(head, near) if head else None
        if module is None:
            return None
        onward = module.record.imports.get(last)
        if onward is not None and depth < _DEPTH and onward != dotted:
            return self.definition(onward, module, depth + 1) or (module, last)
        return module, last

    def importers(self, module: ModuleEntry, name: str) -> list[tuple[ModuleEntry, str]]:
        """(importing module, its alias) of every import of a module's name."""
        if self._importers is None:
            self._importers = self._all_importers()
        return self._importers.get((module.absolute, name), [])

    def module_importers(self, module: ModuleEntry) -> list[tuple[ModuleEntry, str]]:
        """(importing module, its alias) of every import of the module itself."""
        return self.importers(module, "")

    def all_importers(self, module: ModuleEntry) -> list[ModuleEntry]:
        """The modules that import a module or something of it."""
        if self._importers is None:
            self._importers = self._all_importers()
        found = {
            e.absolute: e
            for (path, _), users in self._importers.items()
            if path == module.absolute
            for e, _ in users
        }
        return list(found.values())

    def _all_importers(self) -> dict[tuple[str, str], list[tuple[ModuleEntry, str]]]:
        table: dict[tuple[str, str], list[tuple[ModuleEntry, str]]] = {}
        for entry in self.entries.values():
            for alias, dotted in entry.record.imports.items():
                whole = self.find(dotted, entry)
                if whole is not None:
                    table.setdefault((whole.absolute, ""), []).append((entry, alias))
                    continue
                target = self.definition(dotted, entry)
                if target is not None:
                    table.setdefault((target[0].absolute, target[1]), []).append((entry, alias))
        return table

    def imported_modules(self, entry: ModuleEntry) -> Iterator[ModuleEntry]:
        """The project's modules that a module imports, packages on the way included."""
        seen: set[str] = set()
        for dotted in (*entry.record.imports.values(), *entry.record.local_imports):
            parts = dotted.split(".")
            for size in range(len(parts), 0, -1):
                found = self.find(".".join(parts[:size]), entry)
                if found is not None and found is not entry and found.absolute not in seen:
                    seen.add(found.absolute)
                    yield found

    def closure(self, entry: ModuleEntry) -> list[ModuleEntry]:
        """Every module whose source may matter to `entry`: its imports, and theirs, itself first."""
        order = {entry.absolute: entry}
        stack = [entry]
        while stack:
            for found in self.imported_modules(stack.pop()):
                if found.absolute not in order:
                    order[found.absolute] = found
                    stack.append(found)
        return list(order.values())

    def callers(self, module: ModuleEntry, qualname: str) -> list[tuple[ModuleEntry, CallSite]]:
        """Calls in view of a function or method of the project."""
        record = module.record.functions.get(qualname)
        if record is None:
            return []
        if record.in_class and not record.parent:
            return list(self._method_callers(module, record))
        found = [
            (module, site)
            for site in module.record.calls.get(record.name, ())
            if site.receiver is None and (not record.parent or _inside(site.caller, record.parent))
        ]
        if not record.parent:
            for importer, alias in self.importers(module, record.name):
                found += [(importer, s) for s in importer.record.calls.get(alias, ()) if s.receiver is None]
            for importer, alias in self.module_importers(module):
                found += [
                    (importer, s) for s in importer.record.calls.get(record.name, ()) if s.receiver == alias
                ]
        return found

    def _method_callers(
        self, module: ModuleEntry, record: FunctionRecord
    ) -> Iterator[tuple[ModuleEntry, CallSite]]:
        name = record.name
        unique = sum(f.name == name for f in module.record.functions.values()) == 1
        for site in module.record.calls.get(name, ()):
            own = site.receiver == "self" and site.caller.startswith(f"{record.in_class}.")
            if site.receiver is not None and (own or (unique and site.receiver != "self")):
                yield module, site
        if not unique:
            return
        for importer, _ in self.importers(module, record.in_class):
            if all(f.name != name for f in importer.record.functions.values()):
                for site in importer.record.calls.get(name, ()):
                    if site.receiver is not None:
                        yield importer, site

    def instantiations(
        self, module: ModuleEntry, class_name: str, depth: int = 0
    ) -> list[tuple[ModuleEntry, CallSite]]:
        """Calls in view of a class of the project."""
        found = [(module, s) for s in module.record.calls.get(class_name, ()) if s.receiver is None]
        for importer, alias in self.importers(module, class_name):
            found += [(importer, s) for s in importer.record.calls.get(alias, ()) if s.receiver is None]
        for importer, alias in self.module_importers(module):
            found += [(importer, s) for s in importer.record.calls.get(class_name, ()) if s.receiver == alias]
        if depth < _DEPTH:
            for owner, name in self.subclasses(module, class_name):
                found += self.instantiations(owner, name, depth + 1)
        return found

    def subclasses(self, module: ModuleEntry, class_name: str) -> list[tuple[ModuleEntry, str]]:
        """Classes in view that name a class as a base."""
        spelled = [(module, class_name), *self.importers(module, class_name)]
        spelled += [(owner, f"{alias}.{class_name}") for owner, alias in self.module_importers(module)]
        return [
            (owner, name)
            for owner, base in spelled
            for name, bases in owner.record.classes.items()
            if base in bases and not (owner is module and name == class_name)
        ]


def module_names(absolute: str, root: str) -> tuple[tuple[str, ...], bool]:
    """(importable dotted names, shortest first; whether it is a package's `__init__`).

    A module inside packages must be imported by at least its package chain; a loose one by its stem. Longer
    names up to the root also count, for namespace packages.
    """
    folder, file = os.path.split(absolute)
    stem = os.path.splitext(file)[0]
    is_package = stem == "__init__"
    parts = [] if is_package else [stem]
    while os.path.exists(os.path.join(folder, "__init__.py")) and folder != os.path.dirname(folder):
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    if not parts:
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    names = [".".join(parts)]
    while folder.startswith(root) and folder != root and folder != os.path.dirname(folder):
        folder, name = os.path.split(folder)
        if not name.isidentifier():
            break
        parts.insert(0, name)
        names.append(".".join(parts))
    return tuple(names), is_package


def _inside(caller: str, parent: str) -> bool:
    return caller == parent or caller.startswith(f"{parent}.")


def _shared(one: str, other: str) -> int:
    count = 0
    for a, b in zip(one.split(os.sep), other.split(os.sep), strict=False):
        if a != b:
            break
        count += 1
    return count
