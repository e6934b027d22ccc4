"""Which versions a project runs on: its Python, and the libraries whose behaviour findings depend on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxlint.dependencies.version import Clause
    from jaxlint.flow.facts import Requirement

Version = tuple[int, ...]

# The newest releases whose behaviour is known: what holds where a project says nothing.
NEWEST: Mapping[str, Version] = {"jax": (0, 10, 2), "equinox": (0, 13, 8), "flax": (0, 12, 8)}
OLDEST_PYTHON = (3, 10)

_LOCK_FILES = ("uv.lock", "poetry.lock", "pylock.toml")
_REQUIREMENTS = r"requirements.*\.txt"


def python(pyproject: Mapping[str, Any]) -> tuple[int, int]:
    """The oldest Python that a project supports, as (major, minor)."""
    from jaxlint.dependencies.poetry import pep440

    project, poetry = _table(pyproject, "project"), _table(pyproject, "tool", "poetry", "dependencies")
    for specifier in (project.get("requires-python"), poetry.get("python")):
        bound = _lower_bound(pep440(specifier)) if isinstance(specifier, str) else None
        if bound:
            return max(OLDEST_PYTHON, (bound[0], bound[1] if len(bound) > 1 else 0))
    return OLDEST_PYTHON


def commands(pyproject: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(module, function) of each command that a project declares: `fit = "pkg.cli:fit"`."""
    tables = (("project", "scripts"), ("project", "gui-scripts"), ("tool", "poetry", "scripts"))
    for target in (value for keys in tables for value in _table(pyproject, *keys).values()):
        module, colon, function = target.partition(":") if isinstance(target, str) else ("", "", "")
        if colon:
            yield module.strip(), function.partition("[")[0].strip()


def library(name: str, root: str) -> Version:
    """The version of a library (a key of NEWEST): locked, else pinned, else the oldest allowed, else newest.

    Where several are locked (for different Pythons), the oldest.
    """
    if not root:
        return NEWEST[name]
    found = [*_locked(name, root), *_pinned(name, root)]
    return min(found) if found else _declared(name, root) or NEWEST[name]


def _locked(name: str, root: str) -> Iterator[Version]:
    # A parser of TOML would need a second for a large lock file. All three formats write a package like this.
    entry = re.compile(rf'^name = "{name}"\s*\nversion = "([^"]+)"', re.MULTILINE)
    for file in _LOCK_FILES:
        for version in entry.findall(_text(root, file)):
            yield _parse(version)


def _pinned(name: str, root: str) -> Iterator[Version]:
    from jaxlint.dependencies.version import exact

    for file in sorted(os.listdir(root)):
        if re.fullmatch(_REQUIREMENTS, file):
            for requirement in _asked(name, root, file):
                if pin := exact(requirement.clauses):
                    yield _parse(pin)


def _declared(name: str, root: str) -> Version | None:
    """The lower bound among a project's own requirements; the first that has one, extras and groups last."""
    bounds = (_lower_bound(requirement.clauses) for requirement in _asked(name, root, "pyproject.toml"))
    return next((bound for bound in bounds if bound), None)


def _asked(name: str, root: str, file: str) -> Iterator[Requirement]:
    """The requirements of a library in a dependency file."""
    from jaxlint.dependencies.read import environments
    from jaxlint.dependencies.text import load
    from jaxlint.project.files import SourceFile

    text = load(SourceFile(file, os.path.join(root, file)), {})
    for environment in environments(text) if text is not None else ():
        yield from (requirement for requirement in environment.requirements if requirement.name == name)


def _lower_bound(clauses: Iterable[Clause]) -> Version:
    from jaxlint.dependencies.version import lower_bound

    return _parse(lower_bound(clauses))


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
