"""Which definition a compilation is of. jax tells its name, which several may bear: each lambda is `<lambda>`.

A boundary that was watched is told by where its function is defined, what runs eagerly by the user's line that ran
it. Of what is neither, only the name is known.
"""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from jaxlint.confirm.claim import Claim
from jaxlint.confirm.observed import Event, Observed

_LAMBDA = "<lambda>"
# What eager control flow is called; all else that is compiled by name, and no lambda, is a helper of jax.
_EAGER = frozenset({"scan", "while", "cond", "map", "_scan", "branches", "associative_scan"})
_DEFINED = re.compile(r"^\s*(?:async\s+def|def|class)\s+(\w+)|\b(lambda)\b", re.MULTILINE)


def of(event: Event) -> Hashable:
    """What tells one definition from others of its name."""
    if event["boundary"] is not None:
        return int(event["boundary"])
    return tuple(event["stack"][0][:2]) if event["name"] in _EAGER and event["stack"] else None


def ambiguous(events: Sequence[Event], seen: Observed, *, anew: bool) -> str:
    """Why compilations of one name, and one definition as far as is known, may be of several; "" if they are not.

    `anew` says that they may be of several function objects.
    """
    event = events[0]
    if event["boundary"] is not None:
        about = next(about for about in seen.boundaries if about["id"] == event["boundary"])
        line = about["place"][1]
        return f"line {line} defines several of that name" if anew and about["definitions"] > 1 else ""
    if event["name"] in _EAGER:
        return ""
    known = sum(_name(about) == event["name"] for about in seen.boundaries)
    written = sum(_bearing(str(event["name"]), file) for file in {str(file) for file, *_ in event["stack"]})
    return "several functions of the program are called so" if max(known, written) > 1 else ""


def numbers(claim: Claim, seen: Observed) -> set[int]:
    """The boundaries that the claim's statements define or make."""
    return {
        int(about["id"]) for about in seen.boundaries if claim.touches([about["place"], *about["wrapped"]])
    }


def made_at(claim: Claim, seen: Observed) -> list[Event]:
    """What was compiled of those, and what bears their name where no more is known of it."""
    made = numbers(claim, seen)
    names = {_name(about) for about in seen.boundaries if about["id"] in made}
    return [
        event
        for event in seen.compiles
        if event["boundary"] in made or (event["boundary"] is None and event["name"] in names)
    ]


def counterpart(event: Event, seen: Observed, fixed: Observed) -> list[Event] | None:
    """What a fixed program compiled of the definition of a compilation, None where others there may be meant.

    Lines move, names stay: it is the definition of the same qualified name or, if there is none, the one of its
    name that the program as written did not have.
    """
    same_name = [other for other in fixed.compiles if other["name"] == event["name"]]
    if event["boundary"] is None:
        return [
            other for other in same_name if other["boundary"] is None and _around(other) == _around(event)
        ]
    written = {int(about["id"]): str(about["name"]) for about in seen.boundaries}
    there = {int(about["id"]): str(about["name"]) for about in fixed.boundaries}
    called = written[event["boundary"]]
    numbers = _in_order(fixed, called)
    if not numbers:
        known = set(written.values())
        new = {number for number, name in there.items() if name not in known}
        numbers = sorted({other["boundary"] for other in same_name} & new)
        return [other for other in same_name if other["boundary"] in numbers] if len(numbers) < 2 else None
    before = _in_order(seen, called)
    if len(before) != len(numbers):
        return None
    number = numbers[before.index(event["boundary"])]
    return [other for other in same_name if other["boundary"] == number]


def is_users(event: Event) -> bool:
    """Whether what was compiled is the user's and no helper of jax."""
    name = str(event["name"])
    return name in _EAGER or name == _LAMBDA or any(_beside(name, str(file)) for file, *_ in event["stack"])


def _in_order(seen: Observed, called: str) -> list[int]:
    """The boundaries of a qualified name, as they stand in the source."""
    found = [about for about in seen.boundaries if about["name"] == called]
    return [int(about["id"]) for about in sorted(found, key=lambda about: (about["place"][1], about["id"]))]


def _name(about: Mapping[str, Any]) -> str:
    return str(about["name"]).removeprefix("partial(").removesuffix(")").rpartition(".")[2]


def _around(event: Event) -> str:
    """The function that ran it."""
    return str(event["stack"][0][2]) if event["stack"] else ""


def _bearing(name: str, file: str) -> int:
    """How many definitions of a file bear a name."""
    return _defined(file).count("lambda" if name == _LAMBDA else name)


def _beside(name: str, file: str) -> bool:
    """Whether a file, or one beside it, defines a function or class of the name."""
    return any(name in _defined(other) for other in _files_beside(os.path.dirname(file)))


@lru_cache(maxsize=256)
def _files_beside(directory: str) -> tuple[str, ...]:
    try:
        names = os.listdir(directory)
    except OSError:
        return ()
    return tuple(os.path.join(directory, name) for name in names if name.endswith(".py"))[:200]


@lru_cache(maxsize=1024)
def _defined(file: str) -> tuple[str, ...]:
    """The names of the functions and classes of a file, "lambda" for each lambda."""
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            return tuple(match[1] or match[2] for match in _DEFINED.finditer(stream.read()))
    except OSError:
        return ()
