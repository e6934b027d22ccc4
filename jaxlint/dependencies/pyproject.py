"""pyproject.toml: dependencies, extras and groups, of the standard, of uv, PDM, Poetry and Pixi; and pixi.toml."""

from __future__ import annotations

from collections.abc import Iterable, Set

from jaxlint.dependencies import poetry
from jaxlint.dependencies.marker import normal
from jaxlint.dependencies.requirement import requirement
from jaxlint.dependencies.text import DependencyText
from jaxlint.dependencies.toml_values import Key, TomlValue, values
from jaxlint.finding import Place, Span
from jaxlint.flow.facts import DependencySet, Proof, Requirement
from jaxlint.pattern import pattern

_LIMITS = ("override-dependencies", "constraint-dependencies")
_PIXI = "pixi.toml"  # has the tables of `[tool.pixi]` by themselves
_NAME = pattern(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_DEFAULTS = pattern(r"(?m)^\s*default-groups\s*=")
_DEPTH = 6  # of groups that include groups and extras that name extras


def read(text: DependencyText) -> list[DependencySet]:
    """One environment for the project itself, and one with each extra, each group, and all default groups."""
    return _Project(text).environments()


class _Project:
    def __init__(self, text: DependencyText) -> None:
        self._path = text.path
        self._values = list(values(text.text))
        if text.path.endswith(_PIXI):
            self._values = [value._replace(key=("tool", "pixi", *value.key)) for value in self._values]
        self._by_key = {value.key: value for value in self._values}
        self.name = normal(self._text("project", "name") or self._text("tool", "poetry", "name"))
        self.indexes, named = indexes(self._values)
        self._sources = sources(self._values, named)
        self.base: list[Requirement] = []
        self.extras: dict[str, list[Requirement]] = {}
        self.groups: dict[str, list[Requirement]] = {}
        self._includes: dict[str, list[str]] = {}
        # Those that uv is told to install; an empty list of them is no value of its own.
        self._defaults: set[str] = set() if _DEFAULTS.search(text.text) else {"dev"}
        for value in self._values:
            self._take(value)
        declared = poetry.read(text.path, self._values, named)
        self.base += declared.base
        for target, found in ((self.extras, declared.extras), (self.groups, declared.groups)):
            for name, requirements in found.items():
                target.setdefault(name, []).extend(requirements)

    def _text(self, *key: str) -> str:
        value = self._by_key.get(key)
        return value.text if value is not None else ""

    def _take(self, value: TomlValue) -> None:
        match value.key:
            case ("project", "dependencies", int()):
                self._add(self.base, value)
            case ("project", "optional-dependencies", str(extra), int()):
                self._add(self.extras.setdefault(normal(extra), []), value, extra)
            case ("dependency-groups", str(group), int()):
                self._add(self.groups.setdefault(normal(group), []), value, group)
            case ("dependency-groups", str(group), int(), "include-group"):
                self._includes.setdefault(normal(group), []).append(normal(value.text))
            case ("tool", "uv", "default-groups", *_):
                self._defaults.add(normal(value.text))
            case ("tool", "uv", "dev-dependencies", int()):
                self._add(self.groups.setdefault("dev", []), value, "dev")
            case ("tool", "pdm", "dev-dependencies", str(group), int()):
                self._add(self.groups.setdefault(normal(group), []), value, group)
            case ("tool", "uv", str(kind), int()) if kind in _LIMITS:
                self._add(self.base, value, constraint=True)

    def _add(
        self, to: list[Requirement], value: TomlValue, group: str = "", *, constraint: bool = False
    ) -> None:
        named = _NAME.match(value.text)
        name = normal(named[1]) if named is not None else ""
        found = requirement(
            value.text,
            Place(self._path, value.span),
            group=normal(group),
            source=self._sources.get(name, ""),
            constraint=constraint,
        )
        if found is not None:
            to.append(found)

    # ------------------------------------------------------------ environments

    def environments(self) -> list[DependencySet]:
        found = [self._environment("", self.base)]
        for extra, asked in self.extras.items():
            found.append(self._environment(f"the extra `{extra}`", [*self.base, *self._with_extras(asked)]))
        groups = self.groups.keys() | self._includes.keys()
        defaults = self._default_groups(groups)
        for group in groups:
            members = [*self.base, *self._with_groups(group, set())]
            found.append(self._environment(f"the group `{group}`", members, by_default=group in defaults))
        if len(defaults) > 1:
            members = [
                *self.base,
                *(m for group in sorted(defaults) for m in self._with_groups(group, set())),
            ]
            found.append(self._environment("the default groups", members, by_default=True))
        return [environment for environment in found if environment.requirements]

    def _default_groups(self, groups: Set[str]) -> set[str]:
        """The groups that are installed unless told otherwise: `dev`, or those that `default-groups` names."""
        if "all" in self._defaults and ("tool", "uv", "default-groups") in self._by_key:
            return set(groups)
        return {group for group in groups if group in self._defaults}

    def _environment(
        self, name: str, requirements: Iterable[Requirement], *, by_default: bool = False
    ) -> DependencySet:
        members = tuple(dict.fromkeys(requirements))
        place = members[0].place if members else Place(self._path, Span(1, 1, 1, 1))
        return DependencySet(
            place, "", Proof("eager"), name, members, indexes=self.indexes, by_default=by_default
        )

    def _with_extras(self, asked: list[Requirement], depth: int = 0) -> list[Requirement]:
        """The requirements of an extra, with those of the project's other extras that it names."""
        found: list[Requirement] = []
        for member in asked:
            if member.name == self.name and depth < _DEPTH:
                for extra in sorted(member.extras):
                    found += self._with_extras(self.extras.get(extra, []), depth + 1)
            else:
                found.append(member)
        return found

    def _with_groups(self, group: str, seen: set[str]) -> list[Requirement]:
        if group in seen:
            return []
        seen.add(group)
        found = list(self.groups.get(group, []))
        for included in self._includes.get(group, []):
            found += self._with_groups(included, seen)
        return self._with_extras(found)


def indexes(found: Iterable[TomlValue]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The addresses of indexes that any package may come from, and the address of each named one."""
    tables: dict[Key, dict[str, str]] = {}
    general: list[str] = []
    for value in found:
        match value.key:
            case ("tool", "uv", "index", int(), str(word)):
                tables.setdefault(value.key[:-1], {})[word] = value.text
            case ("tool", ("poetry" | "pdm"), "source", int(), str(word)):
                tables.setdefault(value.key[:-1], {})[word] = value.text
            case ("tool", "uv", *_, ("index-url" | "torch-backend")):
                general.append(value.text)
            case ("tool", "uv", *_, ("extra-index-url" | "find-links"), int()):
                general.append(value.text)
            case ("tool", "pixi", *_, "pypi-options", "index-url"):
                general.append(value.text)
            case ("tool", "pixi", *_, "pypi-options", "extra-index-urls", int()):
                general.append(value.text)
    named = {table["name"]: table.get("url", "") for table in tables.values() if "name" in table}
    for table in tables.values():
        if table.get("explicit") != "true" and table.get("priority") != "explicit":
            general.append(table.get("url", ""))
    return tuple(address for address in general if address), named


def sources(found: Iterable[TomlValue], named: dict[str, str]) -> dict[str, str]:
    """Package → where `[tool.uv.sources]` takes it from."""
    taken: dict[str, list[str]] = {}
    for value in found:
        match value.key:
            case ("tool", "uv", "sources", str(name), *_, ("index" | "url" | "path" | "git")):
                taken.setdefault(normal(name), []).append(f"{value.text} {named.get(value.text, '')}".strip())
    return {name: ", ".join(places) for name, places in taken.items()}
