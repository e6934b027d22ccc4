"""Poetry's own tables in pyproject.toml, and those of Pixi, which are written alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from jaxlint.dependencies import marker
from jaxlint.dependencies.marker import normal
from jaxlint.dependencies.toml_values import TomlValue
from jaxlint.dependencies.version import Clause, clauses
from jaxlint.finding import Place
from jaxlint.flow.facts import Requirement
from jaxlint.record import replace


@dataclass(slots=True)
class Declared:
    """What a project asks for always, with each extra, and with each group."""

    base: list[Requirement] = field(default_factory=list)
    extras: dict[str, list[Requirement]] = field(default_factory=dict)
    groups: dict[str, list[Requirement]] = field(default_factory=dict)


@dataclass(slots=True)
class _Dependency:
    first: TomlValue
    words: dict[str, str] = field(default_factory=dict)
    extras: set[str] = field(default_factory=set)


def read(path: str, found: Iterable[TomlValue], indexes: dict[str, str]) -> Declared:
    """The dependencies of `[tool.poetry]`, and what `[tool.pixi]` takes from PyPI. `indexes` are the addresses of
    Poetry's named sources."""
    asked: dict[tuple[str, str], _Dependency] = {}
    in_extras: dict[str, list[str]] = {}
    for value in found:
        match value.key:
            case ("tool", "poetry", "dependencies", str(name), *rest):
                _note(asked.setdefault(("", normal(name)), _Dependency(value)), rest, value)
            case ("tool", "poetry", "group", str(group), "dependencies", str(name), *rest):
                _note(asked.setdefault((normal(group), normal(name)), _Dependency(value)), rest, value)
            case ("tool", "poetry", "dev-dependencies", str(name), *rest):
                _note(asked.setdefault(("dev", normal(name)), _Dependency(value)), rest, value)
            case ("tool", "pixi", "pypi-dependencies", str(name), *rest):
                _note(asked.setdefault(("", normal(name)), _Dependency(value)), rest, value)
            case ("tool", "pixi", "feature", str(group), "pypi-dependencies", str(name), *rest):
                _note(asked.setdefault((normal(group), normal(name)), _Dependency(value)), rest, value)
            case ("tool", "poetry", "extras", str(extra), int()):
                in_extras.setdefault(normal(value.text), []).append(normal(extra))
    declared = Declared()
    for (group, name), dependency in asked.items():
        for requirement in _requirements(path, group, name, dependency, indexes):
            if group:
                declared.groups.setdefault(group, []).append(requirement)
            elif dependency.words.get("optional") == "true":
                for extra in in_extras.get(name, []):
                    declared.extras.setdefault(extra, []).append(replace(requirement, group=extra))
            else:
                declared.base.append(requirement)
    return declared


def _note(dependency: _Dependency, rest: list[str | int], value: TomlValue) -> None:
    match rest:
        case []:
            dependency.words["version"] = value.text
        case ["extras", int()]:
            dependency.extras.add(normal(value.text))
        case [str(word)]:
            dependency.words[word] = value.text
        case [int(), *_]:  # one of several, each for its own machines or versions of Python
            dependency.words["several"] = "true"


def _requirements(
    path: str, group: str, name: str, dependency: _Dependency, indexes: dict[str, str]
) -> Iterator[Requirement]:
    words = dependency.words
    held = marker.holds(words.get("markers", ""))
    if name == "python" or held is False or words.get("platform", "linux") != "linux":
        return
    version = words.get("version", "")
    index = words.get("source", "")
    origin = [words.get(word, "") for word in ("index", "url", "git", "path")]
    yield Requirement(
        Place(path, dependency.first.span),
        name,
        frozenset(dependency.extras),
        () if "||" in version else pep440(version),
        group,
        " ".join(word for word in (index, indexes.get(index, ""), *origin) if word),
        conditional=held is None or "several" in words or "python" in words or "||" in version,
    )


def pep440(specifier: str) -> tuple[Clause, ...]:
    """Poetry's specifier (`^0.4.20`, `~0.4`, `0.4.*`, `>=0.4,<1`) in the clauses of PEP 440."""
    found: list[Clause] = []
    for part in re.split(r"[,\s]+(?=[\^~<>=!\d])", specifier.strip()):
        if part.startswith("^"):
            found += [(">=", part[1:]), ("<", _next(part[1:], caret=True))]
        elif part.startswith("~") and not part.startswith("~="):
            found += [(">=", part[1:]), ("<", _next(part[1:], caret=False))]
        elif part[:1].isdigit():
            found.append(("==", part))
        else:
            found += clauses(part)
    return tuple(found)


def _next(version: str, *, caret: bool) -> str:
    """The version that `^` (the leftmost part that is not zero may not change) or `~` stops before."""
    parts = [int(part) for part in re.findall(r"\d+", version.partition("+")[0])] or [0]
    fixed = next((i for i, part in enumerate(parts) if part), len(parts) - 1) if caret else 1
    place = min(fixed, len(parts) - 1)
    return ".".join(map(str, [*parts[:place], parts[place] + 1]))
