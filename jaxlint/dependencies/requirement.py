"""One requirement as PEP 508 writes it: `jax[cuda12]>=0.6 ; sys_platform == "linux"`."""

from __future__ import annotations

import re
from typing import NamedTuple

from jaxlint.dependencies import marker
from jaxlint.dependencies.marker import normal
from jaxlint.dependencies.version import Clause, clauses
from jaxlint.finding import Place
from jaxlint.flow.facts import Requirement

_HEAD = r"\s*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?:\[([^\]]*)\])?\s*"
_SPECIFIER = r"\(?\s*((===|==|~=|!=|<=|>=|<|>)\s*[^\s,;()]+\s*,?\s*)*\)?"
_WHEEL = r"([\w.]+?)-(\d[^-]*?)(?:-\d+)?-[^-]+-[^-]+-[^-]+\.whl"


class Parsed(NamedTuple):
    """`url` where it is taken from a file or repository, "" for an index."""

    name: str
    extras: frozenset[str]
    clauses: tuple[Clause, ...]
    marker: str
    url: str


def parse(text: str) -> Parsed | None:
    """A requirement, or None for what is none. The address of a wheel is one: its name says what it holds."""
    asked, _, condition = text.partition(";") if "://" not in text else _split_url(text)
    if "://" in asked and "@" not in asked.partition("://")[0]:
        return _wheel(asked.strip(), condition.strip())
    head = re.match(_HEAD, asked)
    if head is None:
        return None
    extras = frozenset(normal(extra.strip()) for extra in (head[2] or "").split(",") if extra.strip())
    rest = asked[head.end() :].strip()
    if rest.startswith("@"):
        return Parsed(normal(head[1]), extras, (), condition.strip(), rest[1:].strip())
    if re.fullmatch(_SPECIFIER, rest) is None:
        return None  # prose, or a tool's own notation
    return Parsed(normal(head[1]), extras, clauses(rest.strip("()")), condition.strip(), "")


def _split_url(text: str) -> tuple[str, str, str]:
    """A semicolon in an address belongs to it unless white space stands before it."""
    return re.sub(r"\s+;", " \0", text).partition("\0")


def _wheel(url: str, condition: str) -> Parsed | None:
    file = url.partition("#")[0].rpartition("/")[2].replace("%2B", "+").replace("%2b", "+")
    found = re.fullmatch(_WHEEL, file)
    if found is None:
        return None
    return Parsed(normal(found[1]), frozenset(), (("==", found[2]),), condition, url)


def requirement(
    text: str, place: Place, *, group: str = "", source: str = "", constraint: bool = False
) -> Requirement | None:
    """The requirement as facts carry it; None for what is none, or never holds on Linux."""
    parsed = parse(text)
    held = marker.holds(parsed.marker) if parsed is not None else False
    if parsed is None or held is False:
        return None
    return Requirement(
        place,
        parsed.name,
        parsed.extras,
        parsed.clauses,
        group,
        parsed.url or source,
        conditional=held is None,
        constraint=constraint,
    )
