"""Versions and what a requirement allows, as far as PEP 440 matters here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

# The release without trailing zeros, and whether it is final (1) or an alpha, beta, candidate or dev (0).
Version = tuple[tuple[int, ...], int]
Clause = tuple[str, str]  # operator and version: (">=", "0.4.30")

_VERSION = r"v?(?:\d+!)?(\d+(?:\.\d+)*)(.*)"
_BEFORE_FINAL = r"[-_.]?(a|b|c|rc|alpha|beta|pre|preview|dev)[-_.]?\d*"
_CLAUSE = r"\s*(===|==|~=|!=|<=|>=|<|>)\s*([^\s,;)]+)\s*"


@lru_cache(maxsize=4096)
def parse(text: str) -> Version:
    """A version, its local label aside; ((), 1) for what is none."""
    found = re.match(_VERSION, text.strip(), re.DOTALL)
    if found is None:
        return (), 1
    release = [int(part) for part in found[1].split(".")]
    while release and not release[-1]:
        release.pop()
    final = re.match(_BEFORE_FINAL, found[2].lower()) is None
    return tuple(release), int(final)


def local_label(text: str) -> str:
    """`cu121` of `2.5.1+cu121`, or ""."""
    return text.partition("+")[2].lower()


def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of a specifier (`>=0.4.30,<0.6`). What cannot be understood is left out."""
    return tuple((found[1], found[2]) for found in re.finditer(_CLAUSE, text))


def allows(given: Iterable[Clause], version: str) -> bool:
    """Whether a version meets all clauses. Local labels count for nothing."""
    return all(_meets(operator, bound, version) for operator, bound in given)


def _meets(operator: str, bound: str, version: str) -> bool:
    if operator in ("==", "===", "!="):
        prefix = bound.removesuffix(".*")
        same = _starts_with(version, prefix) if prefix != bound else parse(version) == parse(bound)
        return same is (operator != "!=")
    if operator == "~=":
        prefix = bound.rpartition(".")[0]
        return parse(version) >= parse(bound) and _starts_with(version, prefix)
    have, limit = parse(version), parse(bound.removesuffix(".*"))
    if operator == ">=":
        return have >= limit
    if operator == "<=":
        return have <= limit
    return have > limit if operator == ">" else have < limit


def _starts_with(version: str, prefix: str) -> bool:
    wanted = [int(part) for part in re.findall(r"\d+", prefix)]
    release = list(parse(version)[0])
    release += [0] * (len(wanted) - len(release))
    return release[: len(wanted)] == wanted


def exact(given: Iterable[Clause]) -> str:
    """The one version that clauses allow (`==0.4.20`), "" where they leave a choice."""
    for operator, bound in given:
        if operator in ("==", "===") and not bound.endswith("*"):
            return bound
    return ""


def all_below(given: Iterable[Clause], floor: str) -> bool:
    """Whether every version that clauses allow is older than a floor; false where that cannot be told."""
    return any(_ends_below(operator, bound, parse(floor), floor) for operator, bound in given)


def _ends_below(operator: str, bound: str, floor: Version, text: str) -> bool:
    if operator == "<":
        return floor >= parse(bound)
    if operator == "<=":
        return floor > parse(bound)
    if operator in ("==", "===", "~="):
        prefix = bound.removesuffix(".*") if bound.endswith(".*") else bound.rpartition(".")[0]
        if operator == "~=" or bound.endswith(".*"):
            return parse(prefix) < floor and not _starts_with(text, prefix)
        return parse(bound) < floor
    return False


def lower_bound(given: Iterable[Clause]) -> str:
    """The newest version that clauses exclude everything below, "" for none."""
    bounds = [bound for operator, bound in given if operator in ("==", "===", ">=", ">", "~=")]
    return max(bounds, key=lambda bound: parse(bound.removesuffix(".*")), default="")
