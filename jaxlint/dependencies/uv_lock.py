"""What each environment of a uv.lock installs: the graph from the project through its dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from jaxlint.dependencies import marker
from jaxlint.project import toml

_OWN = ("editable", "virtual", "directory")
Package = tuple[str, str]  # name and version


def environments(text: str) -> Iterator[tuple[str, set[Package]]]:
    """(name, packages reached) of the project alone and with each extra and each group; nothing if broken."""
    try:
        document = toml.parse(text, "uv.lock")
    except toml.TomlError:
        return
    graph = _Graph(_tables(document.get("package")))
    for root in graph.roots:
        base = _tables(root.get("dependencies"))
        yield "", graph.reached(base)
        for kind, key in (("extra", "optional-dependencies"), ("group", "dev-dependencies")):
            chosen = root.get(key)
            for name, dependencies in (chosen if isinstance(chosen, dict) else {}).items():
                yield f"the {kind} `{name}`", graph.reached([*base, *_tables(dependencies)])


class _Graph:
    def __init__(self, packages: Iterable[dict[str, Any]]) -> None:
        self.roots: list[dict[str, Any]] = []
        self._by_name: dict[str, list[dict[str, Any]]] = {}
        for package in packages:
            self._by_name.setdefault(str(package.get("name")), []).append(package)
            source = package.get("source")
            if isinstance(source, dict) and any(word in source for word in _OWN):
                self.roots.append(package)

    def reached(self, dependencies: Iterable[dict[str, Any]]) -> set[Package]:
        """Every package that is installed with these on Linux."""
        found: set[Package] = set()
        seen: set[tuple[str, str, str]] = set()
        pending = list(dependencies)
        while pending:
            dependency = pending.pop()
            if marker.holds(str(dependency.get("marker", ""))) is False:
                continue
            for package in self._by_name.get(str(dependency.get("name")), []):
                version = str(package.get("version", ""))
                if dependency.get("version", version) != version:
                    continue
                found.add((str(package["name"]), version))
                for extra in ("", *_names(dependency.get("extra"))):
                    key = (str(package["name"]), version, extra)
                    if key not in seen:
                        seen.add(key)
                        pending += _of(package, extra)
        return found


def _of(package: dict[str, Any], extra: str) -> list[dict[str, Any]]:
    if not extra:
        return _tables(package.get("dependencies"))
    optional = package.get("optional-dependencies")
    return _tables(optional.get(extra)) if isinstance(optional, dict) else []


def _tables(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _names(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
