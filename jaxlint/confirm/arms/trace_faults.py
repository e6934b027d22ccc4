"""JAX205 to JAX208: Python or numpy needs to know a value where a trace has none.

Such a line raises when it is traced with a value of the kind that the claim speaks of. That it ran is not enough:
under `grad` alone values are concrete, and an argument that is static, or not mapped by `vmap`, is so too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from jaxlint.confirm.arms.faults import expected, short
from jaxlint.confirm.claim import Claim, Site
from jaxlint.confirm.judgement import Judgement, confirmed, refuted, undecided
from jaxlint.confirm.observed import Observed, Run
from jaxlint.confirm.wording import times

_BEGINS = "traced from here"
_CALLED = re.compile(r"`.+` is called here")
_RAISES_NOTHING = "raises nothing"  # what a message says of numpy functions that give a wrong answer instead
_VALUELESS = frozenset({"jit", "vmap"})


def judge(claim: Claim, seen: Observed) -> Judgement:
    """Confirmed by the exception at the line; refuted where the line did without on a value that has none, or on
    the very way that the finding describes."""
    code, line = claim.finding.code, claim.site.first
    runs = seen.runs(claim.site)
    for run in runs:
        here = run.get("raised_at")
        message = str(run.get("message", ""))
        if here and _is_at(claim.site, here) and expected(code, run["raised"], message):
            return confirmed(f"line {line} raises {run['raised'][0]}: {short(message)}")
    raised = seen.raised
    at_line = raised is not None and raised["at"] and _is_at(claim.site, raised["at"])
    if raised is not None and at_line and expected(code, raised["kinds"], str(raised["message"])):
        return confirmed(f"the program stops at {seen.raised_at}")
    if not runs:
        return undecided(seen.not_reached(claim.site))
    through = [run for run in runs if "raised" not in run]
    if not through:
        return undecided(
            f"line {line} raises something else: {runs[0]['raised'][0]}: {short(runs[0]['message'])}"
        )
    traced = [run for run in through if _VALUELESS.intersection(run.get("transformations", ()))]
    if not traced:
        return undecided(f"line {line} {_how(through)}; {_wanted(claim, seen)}")
    valueless = [run for run in traced if _is_valueless(claim, run)]
    if _RAISES_NOTHING in claim.finding.message:
        if valueless:
            return confirmed(f"line {line} was traced {times(len(valueless))}, and nothing was raised")
        return undecided(f"line {line} was traced with values that are known; {_wanted(claim, seen)}")
    decisive = valueless or [run for run in traced if _as_described(claim, seen, run)]
    if not decisive:
        how = "by another way, with values that are known"
        return undecided(f"line {line} was traced {how}; {_wanted(claim, seen)}")
    if not claim.expression.certain:
        return undecided(
            f"line {line} was traced {times(len(decisive))} without an error, but Python may have passed "
            "over the part that needs the value"
        )
    return refuted(f"line {line} was traced {times(len(decisive))} without an error")


def _is_valueless(claim: Claim, run: Run) -> bool:
    """Whether all that the claim's expression reads were tracers without a value."""
    read = [found for name, found in run.get("values", {}).items() if name in claim.expression.names]
    return bool(read) and all(read)


def _as_described(claim: Claim, seen: Observed, run: Run) -> bool:
    """Whether a run came about as the finding says: by its calls, in the trace that begins where it says."""
    stack = run.get("stack", ())
    within = set(run.get("within") or ())
    traced = [site for site in claim.related if site.message == _BEGINS]
    if not traced or not all(_on(stack, site) or _is_within(site, seen, within) for site in traced):
        return False
    return all(_on(stack, site) for site in claim.related if _CALLED.fullmatch(site.message))


def _on(stack: Sequence[Sequence[object]], site: Site) -> bool:
    return any(_is_at(site, place) for place in stack)


def _is_within(site: Site, seen: Observed, traces: set[int]) -> bool:
    """Whether one of the traces is of a boundary that a statement defines or makes."""
    return any(
        any(_is_at(site, place) for place in (about["place"], *about["wrapped"]))
        and any(kept["id"] in traces for kept in about["kept"])
        for about in seen.boundaries
    )


def _is_at(site: Site, place: Sequence[object]) -> bool:
    return site.holds(str(place[0]), int(str(place[1])))


def _how(runs: Sequence[Run]) -> str:
    """How a line ran, of which no run was under jit or vmap."""
    under_grad = sum("grad" in run.get("transformations", ()) for run in runs)
    if under_grad:
        return f"was traced {times(under_grad)}, by `grad` alone, where values are known"
    return f"ran {times(len(runs))}, but never in traced code"


def _wanted(claim: Claim, seen: Observed) -> str:
    """What a program would have to do for the claim to be tested."""
    called = [site for site in claim.related if _CALLED.fullmatch(site.message)]
    if called:
        missing = next((site for site in called if not seen.runs(site)), None)
        about = f"the finding is about the call in line {(missing or called[-1]).first}"
        return f"{about}, which did not run: have the program make it" if missing else about
    begin = next((site for site in claim.related if site.message == _BEGINS), None)
    if begin is not None:
        return f"the finding is about the trace that begins in line {begin.first}: have the program call that"
    return "have the program call it under jit"
