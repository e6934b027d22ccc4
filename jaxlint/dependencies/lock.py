"""Lock files: uv.lock, poetry.lock and pylock.toml, each a list of packages with their versions.

They may have tens of thousands of lines, so the packages that matter are found line by line; what belongs to
which environment is only looked up where two that should not meet are both there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from jaxlint.dependencies import marker, uv_lock
from jaxlint.dependencies.marker import normal
from jaxlint.dependencies.text import DependencyText
from jaxlint.finding import Place, Span
from jaxlint.flow.facts import DependencySet, Proof, Requirement

_WANTED = re.compile(r"jax|jaxlib|jax-cuda\d+-plugin|nvidia-cudnn-cu\d+|torch")
_HEADER = re.compile(r"^\[\[packages?\]\]", re.MULTILINE)
_FIELD = re.compile(
    r'^(name|version|marker|markers|optional) = ("[^"\n]*"|\'[^\'\n]*\'|true|false)', re.MULTILINE
)


class Locked(NamedTuple):
    """One package of a lock file."""

    requirement: Requirement
    marker: str
    optional: bool


def read(text: DependencyText) -> list[DependencySet]:
    """The environment that the file stands for; of uv.lock, where it matters, one for each extra and group."""
    packages = list(_packages(text))
    if len([p for p in packages if p.requirement.name.startswith("nvidia-cudnn-cu")]) > 1:
        if text.path.endswith("uv.lock"):
            return [
                found
                for name, reached in uv_lock.environments(text.text)
                for found in _environment(
                    name, [p for p in packages if (p.requirement.name, _version(p)) in reached]
                )
            ]
        packages = [p for p in packages if not p.optional and _always(p.marker)]
    return _environment("", packages)


def _environment(name: str, packages: list[Locked]) -> list[DependencySet]:
    requirements = tuple(package.requirement for package in packages)
    if not requirements:
        return []
    return [DependencySet(requirements[0].place, "", Proof("eager"), name, requirements, locked=True)]


def _always(condition: str) -> bool:
    """Whether a package is installed on Linux whatever extras and groups are asked for."""
    chosen = "extras" in condition or "dependency_groups" in condition
    return not chosen and marker.holds(condition) is not False


def _version(package: Locked) -> str:
    return package.requirement.clauses[0][1]


def _packages(text: DependencyText) -> Iterator[Locked]:
    starts = [found.end() for found in _HEADER.finditer(text.text)]
    for start, stop in pairwise([*starts, len(text.text)]):
        table = text.text.find("\n[", start, stop)  # the package's own tables have names and versions, too
        fields = {
            found[1]: found
            for found in reversed(list(_FIELD.finditer(text.text, start, stop if table < 0 else table)))
        }
        name, version = fields.get("name"), fields.get("version")
        if name is None or version is None or not _WANTED.fullmatch(normal(name[2].strip("'\""))):
            continue
        line = text.text.count("\n", 0, name.start()) + 1
        condition = fields.get("marker") or fields.get("markers")
        yield Locked(
            Requirement(
                Place(text.path, Span(line, 1, line, name.end() - name.start() + 1)),
                normal(name[2].strip("'\"")),
                clauses=(("==", version[2].strip("'\"")),),
            ),
            condition[2].strip("'\"") if condition is not None else "",
            "optional" in fields and fields["optional"][2] == "true",
        )
