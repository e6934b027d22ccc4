"""The project's modules together: which file a dotted name means, who imports what, who calls whom."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from jaxlint.index.records import CallSite, FunctionRecord, ModuleRecord

_DEPTH = 4  # how far re-exports and callers are followed

# Names that mean the library or the standard library wherever they are imported, unless the project is that
# library itself: `pkg/ops/jax.py` is not what `import jax` gives.
_TAKEN = sys.stdlib_module_names | {
    "brax", "chex", "diffrax", "distrax", "equinox", "flax", "haiku", "jax", "jaxlib", "jaxtyping", "lineax",
    "numpy", "numpyro", "optax", "optimistix", "orbax", "penzai", "scipy", "tensorflow", "torch", "tqdm",
}  # fmt: skip


class ModuleEntry:
    """A module of the project: where it lies, how it may be imported, what it defines.

    `path` is as shown to the user, `names` are importable ones, shortest first. `group` is shared with every
    module that it imports or that imports it, in however many steps. `imports` are the project's modules that its
    import statements name, packages on the way included. `is_root` is whether a run over everything analyses it; a
    module that is none calls nothing that is analysed.
    """

    __slots__ = (
        "_load",
        "_record",
        "_seen",
        "absolute",
        "digest",
        "group",
        "imports",
        "is_package",
        "is_root",
        "names",
        "path",
    )

    def __init__(
        self,
        path: str,
        absolute: str,
        names: tuple[str, ...],
        is_package: bool,
        digest: str = "",
        load: Callable[[ModuleEntry], ModuleRecord] = lambda entry: ModuleRecord(),
    ) -> None:
        """`load` makes the record when it is first asked for."""
        self.path = path
        self.absolute = absolute
        self.names = names
        self.is_package = is_package
        self.digest = digest
        self.group = ""
        self.imports: list[ModuleEntry] = []
        self.is_root = True
        self._load = load
        self._record: ModuleRecord | None = None
        self._seen: set[str] = set()

    @property
    def name(self) -> str:
        return self.names[0]

    @property
    def record(self) -> ModuleRecord:
        """What the module defines. That it was asked for is noted in the table's `seen`."""
        self._seen.add(self.absolute)
        return self._record or self.unseen_record

    @property
    def unseen_record(self) -> ModuleRecord:
        """The same without a note: for its imports, on which every finding of its group depends."""
        if self._record is None:
            self._record = self._load(self)
        return self._record

    def note_in(self, seen: set[str]) -> None:
        """Note in this set from now on that the record was asked for."""
        self._seen = seen

    def base(self, dotted: str) -> str:
        """The directory that has to be on the path for one of the module's names to be importable."""
        directory = os.path.dirname(self.absolute)
        for _ in range(dotted.count(".") + self.is_package):
            directory = os.path.dirname(directory)
        return directory


class ModuleTable:
    """Looks names up across modules. Two files may answer to one name: the nearest to the importer wins.

    `seen` are the modules (absolute paths) whose records somebody asked for since it was last cleared.
    `names_x64` is whether the project speaks of 64-bit mode anywhere: then it may well be on.
    `sets_start_method` is whether it says anywhere how processes are started. `layout` stands for where all modules
    lie, which decides what a name that somebody looks up leads to, or that it leads nowhere.
    """

    def __init__(self, entries: Iterable[ModuleEntry], root: str = "") -> None:
        """`root` is the project's, "" when it has none."""
        self.seen: set[str] = set()
        self.names_x64 = False
        self.sets_start_method = False
        self.layout = ""
        self._bases = {root, os.path.join(root, "src")} if root else set()
        self.entries = {entry.absolute: entry for entry in sorted(entries, key=lambda e: e.absolute)}
        self._by_name: dict[str, list[ModuleEntry]] = {}
        for entry in self.entries.values():
            entry.note_in(self.seen)
            for name in entry.names:
                self._by_name.setdefault(name, []).append(entry)
        self._found: dict[tuple[str, str], ModuleEntry | None] = {}
        self._users: dict[str, _Users] = {}
        self._importing: dict[tuple[str, frozenset[str]], set[str]] = {}

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
        onward = module.unseen_record.imports.get(last)
        if onward is not None and depth < _DEPTH and onward != dotted:
            return self.definition(onward, module, depth + 1) or (module, last)
        return module, last

    def importers(self, module: ModuleEntry, name: str) -> list[tuple[ModuleEntry, str]]:
        """(importing module, its alias) of every import of a module's name."""
        return self._users_in(module.group).get(module.absolute, {}).get(name, [])

    def module_importers(self, module: ModuleEntry) -> list[tuple[ModuleEntry, str]]:
        """The same of the module itself."""
        return self.importers(module, "")

    def all_importers(self, module: ModuleEntry) -> list[ModuleEntry]:
        """The modules that import a module or something of it, at module level."""
        users = self._users_in(module.group).get(module.absolute, {})
        return list({entry.absolute: entry for found in users.values() for entry, _ in found}.values())

    def names_taken(self, module: ModuleEntry) -> frozenset[str]:
        """The names of a module that others import, at module level or in a function; "" where they import the
        module itself, "*" where all that it holds."""
        taken = set(self._users_in(module.group).get(module.absolute, ()))
        others = (entry for entry in self._members(module.group) if entry is not module)
        local = (self._target(d, entry) for entry in others for d in entry.unseen_record.local_imports)
        return frozenset(taken | {target[1] for target in local if target and target[0] is module})

    def _users_in(self, group: str) -> _Users:
        """Who imports what in a group: module → name → (importing module, its alias)."""
        if group not in self._users:
            users: _Users = {}
            for entry in self._members(group):
                for alias, dotted in entry.unseen_record.imports.items():
                    target = self._target(dotted, entry)
                    if target is not None:
                        of_module = users.setdefault(target[0].absolute, {})
                        of_module.setdefault(target[1], []).append((entry, alias))
            self._users[group] = users
        return self._users[group]

    def _target(self, dotted: str, near: ModuleEntry) -> tuple[ModuleEntry, str] | None:
        """(module, name) of what an import takes, (module, "") where it is a module."""
        whole = self.find(dotted, near)
        return (whole, "") if whole is not None else self.definition(dotted, near)

    def imports_any(self, module: ModuleEntry, tops: frozenset[str]) -> bool:
        """Whether a module imports one of some libraries (`jax`, not `jax.numpy`), in however many steps."""
        key = module.group, tops
        if key not in self._importing:
            self._importing[key] = self._all_importing(*key)
        return module.absolute in self._importing[key]

    def _all_importing(self, group: str, tops: frozenset[str]) -> set[str]:
        importers: dict[str, list[ModuleEntry]] = {}
        pending = []
        for entry in self._members(group):
            if any(dotted.partition(".")[0] in tops for dotted in entry.unseen_record.imports.values()):
                pending.append(entry)
            for imported in entry.imports:
                importers.setdefault(imported.absolute, []).append(entry)
        found: set[str] = set()
        while pending:
            entry = pending.pop()
            if entry.absolute not in found:
                found.add(entry.absolute)
                pending += importers.get(entry.absolute, ())
        return found

    def _members(self, group: str) -> list[ModuleEntry]:
        return [entry for entry in self.entries.values() if entry.is_root and entry.group == group]

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
        unique = module.record.definitions[name] == 1
        for site in module.record.calls.get(name, ()):
            own = site.receiver == "self" and site.caller.startswith(f"{record.in_class}.")
            if site.receiver is not None and (own or (unique and site.receiver != "self")):
                yield module, site
        if not unique:
            return
        for importer, _ in self.importers(module, record.in_class):
            if not importer.record.definitions[name]:
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


# Module → name, "" for the module itself → (importing module, its alias).
_Users: TypeAlias = "dict[str, dict[str, list[tuple[ModuleEntry, str]]]]"


def _inside(caller: str, parent: str) -> bool:
    return caller == parent or caller.startswith(f"{parent}.")


def _shared(one: str, other: str) -> int:
    count = 0
    for a, b in zip(one.split(os.sep), other.split(os.sep), strict=False):
        if a != b:
            break
        count += 1
    return count
