"""Which versions a project runs on: its Python, and the libraries whose behaviour findings depend on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

Version = tuple[int, ...]

# The newest releases whose behaviour is known: what holds where a project says nothing.
NEWEST: Mapping[str, Version] = {"jax": (0, 10, 2), "equinox": (0, 13, 8), "flax": (0, 12, 8)}
OLDEST_PYTHON = (3, 10)

_LOCK_FILES = ("uv.lock", "poetry.lock", "pylock.toml")
_REQUIREMENTS = re.compile(r"requirements.*\.txt")
_CLAUSE = re.compile(r"(===|==|~=|>=|>|\^|~)\s*v?(\d+(?:\.\d+)*)")
_REQUIREMENT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*\(?\s*([^;#)]*)")


def python(pyproject: Mapping[str, Any]) -> tuple[int, int]:
    """The oldest Python that a project supports, as (major, minor)."""
    project, poetry = _table(pyproject, "project"), _table(pyproject, "tool", "poetry", "dependencies")
    for specifier in (project.get("requires-python"), poetry.get("python")):
        bound = lower_bound(specifier) if isinstance(specifier, str) else None
        if bound is not None:
            return max(OLDEST_PYTHON, (bound[0], bound[1] if len(bound) > 1 else 0))
    return OLDEST_PYTHON


def library(name: str, root: str, pyproject: Mapping[str, Any]) -> Version:
    """The version of a library (a key of NEWEST): locked, else pinned, else the oldest allowed, else newest.

    Where several are locked (for different Pythons), the oldest.
    """
    found = [*_locked(name, root), *_pinned(name, root)] if root else []
    if found:
        return min(found)
    return _declared(name, pyproject) or NEWEST[name]


def lower_bound(specifier: str) -> Version | None:
    """The highest version that a specifier (PEP 440, or poetry's `^`) excludes everything below."""
    bounds = [_parse(version) for _, version in _CLAUSE.findall(specifier)]
    return max(bounds, default=None)


def _locked(name: str, root: str) -> Iterator[Version]:
    # A parser of TOML would need a second for a large lock file. All three formats write a package like this.
    entry = re.compile(rf'^name = "{name}"\s*\nversion = "([^"]+)"', re.MULTILINE)
    for file in _LOCK_FILES:
        for version in entry.findall(_text(root, file)):
            yield _parse(version)


def _pinned(name: str, root: str) -> Iterator[Version]:
    for file in sorted(os.listdir(root)):
        if not _REQUIREMENTS.fullmatch(file):
            continue
        for line in _text(root, file).splitlines():
            required, specifier = _requirement(line)
            if required == name and "==" in specifier and (bound := lower_bound(specifier)):
                yield bound


def _declared(name: str, pyproject: Mapping[str, Any]) -> Version | None:
    """The lower bound among a project's own requirements; the first that has one, extras and groups last."""
    for line in _requirements(pyproject):
        required, specifier = _requirement(line)
        if required == name and (bound := lower_bound(specifier)):
            return bound
    return None


def _requirements(pyproject: Mapping[str, Any]) -> Iterator[str]:
    project = _table(pyproject, "project")
    yield from _strings(project.get("dependencies"))
    for name, specifier in _table(pyproject, "tool", "poetry", "dependencies").items():
        version = specifier.get("version") if isinstance(specifier, dict) else specifier
        if isinstance(version, str):
            bare = version[:1].isdigit()
            yield f"{name} {'==' if bare else ''}{version}"
    for group in (_table(project, "optional-dependencies"), _table(pyproject, "dependency-groups")):
        for requirements in group.values():
            yield from _strings(requirements)


def _requirement(line: str) -> tuple[str, str]:
    """Name (normalised) and specifier of a requirement."""
    found = _REQUIREMENT.match(line.strip())
    return (re.sub(r"[-_.]+", "-", found[1]).lower(), found[2]) if found else ("", "")


def _parse(version: str) -> Version:
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def _text(root: str, file: str) -> str:
    try:
        with open(os.path.join(root, file), encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


def _table(document: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    for key in keys:
        document = document.get(key, {})
        if not isinstance(document, dict):
            return {}
    return document


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))
