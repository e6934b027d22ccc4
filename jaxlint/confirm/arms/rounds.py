"""How often a run made the calls that a claim about retraces is about, and whether the claim's loop went round."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from jaxlint.confirm.claim import Claim, Site
from jaxlint.confirm.observed import Event, Observed, Run

# What the rules call the calls, where the finding itself points at where a value comes from.
_CALLS = re.compile(
    r"(`.+` is called with it|compiled again|`.+` is needed again|`.+` is handed over|called) here|the other form"
)
_LOOP = re.compile(r"runs again here|the loop|both run in this loop")
_BOTH = "the other form"  # of a call: the finding points at one, too


def calls(claim: Claim, seen: Observed) -> int:
    """How often the claim's calls ran outside of any trace."""
    return sum(len(_eager(site, seen)) for site in sites(claim))


def missing(claim: Claim, seen: Observed) -> str:
    """Why none of them ran."""
    site = sites(claim)[0]
    if seen.runs(site):
        return f"line {site.first} ran in traced code only: have the program call it outside jit"
    return seen.not_reached(site)


def once_round(claim: Claim, seen: Observed) -> str:
    """Why the rounds of the claim's loop were too few for a second call, "" where they were not."""
    loops = [site for site in claim.related if _LOOP.fullmatch(site.message)]
    uses = [run for site in sites(claim) for run in _eager(site, seen)]
    headers = [run for site in loops for run in seen.runs(site)]
    # The header of a `for` runs once more than its body, that of `while True` once in all; a call in the place of a
    # loop as often as what it calls.
    went_round = (
        not headers
        or _most_in_one_frame(uses) > 1
        or _most_in_one_frame(headers) > 2
        or len(uses) > len(headers)
    )
    if went_round:
        return ""
    return f"the loop in line {loops[0].first} went round once only: a retrace takes two rounds"


def again(claim: Claim, seen: Observed, compiles: Sequence[Event], *, one_function: bool) -> bool:
    """Whether a function was compiled again by the claim's calls, by which none may have been compiled at all.

    They did it twice, or for the first time when one of them had gone without.
    """
    here = [event for event in compiles if any(_passes(event, site) for site in sites(claim))]
    runs = [run for site in sites(claim) for run in _eager(site, seen) if "until" in run]
    if len(here) > 1 or not runs:
        return True
    return bool(here) and one_function and int(here[0]["at"]) > min(int(run["until"]) for run in runs)


def _passes(event: Event, site: Site) -> bool:
    return any(site.holds(str(file), int(line)) for file, line, _ in event["stack"])


def sites(claim: Claim) -> list[Site]:
    """The calls that the claim is about."""
    found = [site for site in claim.related if _CALLS.fullmatch(site.message)]
    both = any(site.message == _BOTH for site in found)
    return [claim.site, *found] if both or not found else found


def _eager(site: Site, seen: Observed) -> list[Run]:
    return [run for run in seen.runs(site) if not run["tracing"]]


def _most_in_one_frame(runs: list[Run]) -> int:
    return max(Counter(_frames(runs)).values(), default=0)


def _frames(runs: list[Run]) -> Iterator[int]:
    for run in runs:
        yield run["frame"]
