"""environment.yml: what conda installs, and the lines that it hands to pip."""

from __future__ import annotations

import re

from jaxlint.columns import split_lines
from jaxlint.dependencies.marker import normal
from jaxlint.dependencies.requirements_txt import Reader
from jaxlint.dependencies.text import DependencyText
from jaxlint.dependencies.version import Clause, clauses
from jaxlint.finding import Place
from jaxlint.flow.facts import DependencySet, Requirement

_COMMENT = re.compile(r"(^|\s)#.*$")
_ITEM = re.compile(r"(?P<indent>\s*)-\s+(?P<quote>['\"]?)(?P<text>.*?)(?P=quote)\s*$")
_SPEC = re.compile(r"(?:[\w/-]+::)?([A-Za-z0-9][\w.-]*)\s*(.*)")
_PREFIX = re.compile(r"=?\s*(\d[\w.*+!]*)(=\S+)?$")


def read(text: DependencyText) -> list[DependencySet]:
    """The one environment of the file."""
    reader = Reader()
    inside, pip_indent = False, -1
    for number, raw in enumerate(split_lines(text.text), start=1):
        line = _COMMENT.sub("", raw.rstrip("\r\n"))
        if not line.strip():
            continue
        if not line[:1].isspace() and not line.startswith("-"):
            inside, pip_indent = line.startswith("dependencies:"), -1
            continue
        item = _ITEM.match(line) if inside else None
        if item is None:
            continue
        indent, asked = len(item["indent"]), item["text"]
        if asked == "pip:":
            pip_indent = indent
        elif indent > pip_indent >= 0:
            reader.line(asked, text, number, item.start("text") + 1)
        else:
            pip_indent = -1
            found = _conda(asked, text.place(number, item.start("text") + 1, item.end("text") + 1))
            if found is not None:
                reader.requirements.append(found)
    return reader.environment(text.path)


def _conda(spec: str, place: Place) -> Requirement | None:
    """`conda-forge::jaxlib=0.4.34=*cuda*`, `numpy >=1.26`, `jax==0.4.20`."""
    found = _SPEC.fullmatch(spec.strip())
    if found is None:
        return None
    return Requirement(place, normal(found[1]), clauses=_clauses(found[2].strip()), conda=True)


def _clauses(specifier: str) -> tuple[Clause, ...]:
    single = _PREFIX.fullmatch(specifier)
    if single is None:
        return clauses(specifier)
    version = single[1].rstrip(".*")
    return (("==", f"{version}.*"),)
