"""What released wheels require of each other: the dated table of releases.json, and answers from it.

The lines in the table are those of the wheels' own METADATA. A version that the table lacks is unknown, and
nothing is said of it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from functools import cache
from typing import Any

from jaxlint.dependencies import marker
from jaxlint.dependencies.requirement import Parsed, parse
from jaxlint.dependencies.version import Clause, allows

CUDNN = "nvidia-cudnn-cu"
PLUGINS = ("jax-cuda12-plugin", "jax-cuda13-plugin")


@cache
def _table() -> dict[str, Any]:
    import json

    with open(os.path.join(os.path.dirname(__file__), "releases.json"), encoding="utf-8") as file:
        table: dict[str, Any] = json.load(file)
    return table


def made() -> str:
    """The day the table was made."""
    return str(_table()["made"])


@cache
def versions(package: str) -> tuple[str, ...]:
    """The known releases of a package, oldest first."""
    table = _table()
    return tuple(table["versions"].get(package) or table["requires"].get(package, ()))


@cache
def _requires(package: str, version: str) -> tuple[Parsed, ...]:
    lines = _table()["requires"].get(package, {}).get(version, ())
    return tuple(parsed for line in lines if (parsed := parse(line)) is not None)


def required(package: str, version: str, extras: Collection[str] = ()) -> list[Parsed]:
    """What a release requires on Linux with these extras, of the packages that the table is about."""
    return [line for line in _requires(package, version) if marker.holds(line.marker, extras) is not False]


def minimum_jaxlib(jax: str) -> str:
    """The oldest jaxlib that a release of jax accepts when it is imported, "" where the table does not say."""
    for line in required("jax", jax, ("minimum-jaxlib",)):
        if line.name == "jaxlib" and "minimum-jaxlib" in line.marker and line.clauses:
            return line.clauses[0][1]
    return ""


@cache
def cudnn_of_jax(jax: str, extras: frozenset[str]) -> Parsed | None:
    """The cuDNN package that `jax[extras]` brings, and which versions of it."""
    for line in required("jax", jax, extras):
        if line.name.startswith(CUDNN):
            return line
        if line.name in PLUGINS:
            for plugin in reversed(versions(line.name)):
                if allows(line.clauses, plugin):
                    found = cudnn_of_plugin(line.name, plugin, line.extras)
                    if found is not None:
                        return found
                    break
    return None


def cudnn_of_plugin(plugin: str, version: str, extras: Iterable[str]) -> Parsed | None:
    """The cuDNN package that a jax-cuda plugin brings with these extras."""
    lines = required(plugin, version, frozenset(extras))
    return next((line for line in lines if line.name.startswith(CUDNN)), None)


@cache
def cudnn_of_torch(torch: str) -> Parsed | None:
    """The cuDNN package that the wheel of torch on the default index brings on Linux."""
    return next((line for line in required("torch", torch) if line.name.startswith(CUDNN)), None)


def allowed(package: str, clauses: Iterable[Clause]) -> list[str]:
    """The known releases that clauses allow, newest first."""
    given = tuple(clauses)
    return [version for version in reversed(versions(package)) if allows(given, version)]
