"""JAX1xx: how often jax compiled one function under the statements of a claim, and for how many calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from jaxlint.confirm.arms import definitions, rounds
from jaxlint.confirm.claim import Claim
from jaxlint.confirm.judgement import Judgement, confirmed, refuted, undecided
from jaxlint.confirm.observed import Event, Observed
from jaxlint.confirm.verdict import AS_FIXED, AS_WRITTEN, Arm, Outcome
from jaxlint.confirm.wording import count, times

_UNHASHABLE = "unhashable"
_MADE_ANEW = ("JAX103", "JAX108", "JAX109")  # each new function object is compiled once, which is the claim
_BY_DATA = ("JAX105", "JAX106")


def judge(claim: Claim, seen: Observed) -> Judgement:
    """Confirmed by a second compilation of one function; refuted by several calls with one."""
    name, made, functions = most_compiled(claim, seen)
    calls = rounds.calls(claim, seen)
    arm = Arm(AS_WRITTEN, compiles=len(made), seconds=_seconds(made))
    if len(made) > 1 and (
        several := definitions.ambiguous(made, seen, anew=claim.finding.code in _MADE_ANEW)
    ):
        return undecided(f"`{name}` was compiled {times(len(made))}, but {several}", arm)
    if len(made) > 1 and not _by_the_calls(claim, seen, made, functions):
        return undecided(f"`{name}` was compiled {times(len(made))}, but not again at these lines", arm)
    if len(made) > 1:
        return confirmed(f"`{name}` was compiled {times(len(made))} ({_seconds(made):.2f} s)", arm)
    if seen.raised is not None and seen.raised_within(claim.sites):
        if any(word in str(seen.raised["message"]) for word in (_UNHASHABLE, "hashable")):
            return confirmed(f"the call fails: {seen.raised_at}", arm)
        return undecided(f"the program stopped at {seen.raised_at}", arm)
    if not calls:
        return undecided(rounds.missing(claim, seen), arm)
    if calls < 2:
        return undecided("the program gets there once only: a retrace takes two calls", arm)
    if few := rounds.once_round(claim, seen):
        return undecided(few, arm)
    if not made:
        return undecided("nothing was compiled at these lines in this run", arm)
    if functions > 1:
        several = f"{functions} functions called `{name}` were compiled once each"
        if calls < 2 * functions:
            return undecided(f"{several}, for {calls} calls: a retrace takes two calls of one", arm)
        return refuted(f"{several}, for {calls} calls", arm)
    return refuted(f"`{name}` was compiled once for {count(calls, 'call')}", arm)


def with_uses(claim: Claim, judgement: Judgement, uses: Sequence[Mapping[str, Any]]) -> Judgement:
    """The same for a module, whose functions were called with inputs (`child/functions.py`).

    What random values showed once is no evidence that other ones would not show more.
    """
    for use in uses:
        raised = use["raised"]
        if raised is not None and any(word in str(raised["message"]) for word in (_UNHASHABLE, "hashable")):
            return confirmed(
                f"the call fails: {raised['kind']}: {' '.join(str(raised['message']).split())[:160]}"
            )
    varied = [str(use["varied"]) for use in uses if use["varied"]]
    if varied and judgement.outcome is Outcome.CONFIRMED:
        return judgement._replace(reason=f"{judgement.reason}, called twice ({varied[0]})")
    if judgement.outcome is Outcome.REFUTED and uses and claim.finding.code in _BY_DATA:
        return undecided(f"{judgement.reason}, of random values: whether sizes differ is up to the data")
    return judgement


def of_boundaries(
    requests: Sequence[Mapping[str, Any]], uses: Sequence[Mapping[str, Any]], otherwise: Judgement
) -> Judgement:
    """The judgement from two calls of a boundary that differ in what the claim says to matter."""
    judgement = otherwise
    for request, use in zip(requests, uses, strict=False):
        name = str(request["name"]).rpartition(".")[2]
        if use["without"]:
            judgement = undecided(str(use["without"]))
        elif use["raised"] is not None:
            said = " ".join(str(use["raised"]["message"]).split())[:160]
            judgement = undecided(f"`{name}` cannot be called: {use['raised']['kind']}: {said}")
        elif not use["varied"]:
            judgement = undecided(f"no second value is known for {', '.join(request['names'])}")
        else:
            first, second = use["calls"][0], use["calls"][-1]
            about = f"{use['varied']}, inputs of {use['source']}"
            if name in second:
                return confirmed(f"`{name}` was compiled again in a second call ({about})")
            if name in first:
                return refuted(f"`{name}` was compiled once for two calls ({about})")
    return judgement


def with_fix(claim: Claim, written: Judgement, seen: Observed, fixed: Observed) -> tuple[Judgement, bool]:
    """The same with what the fixed program compiled of that function, and whether that is less."""
    name, before, _ = most_compiled(claim, seen)
    there = definitions.counterpart(before[0], seen, fixed)
    if there is None:
        note = f"as fixed several functions are called `{name}`, which cannot be told apart"
        return written._replace(reason=f"{written.reason}; {note}"), True
    _, after, _ = _most(there, claim) or ("", [], 0)
    arm = Arm(AS_FIXED, compiles=len(after), seconds=_seconds(after))
    reason = f"{written.reason} as written, {times(len(after))} as fixed"
    return Judgement(written.outcome, reason, (*written.arms, arm)), len(after) < len(before)


def most_compiled(claim: Claim, seen: Observed) -> tuple[str, list[Event], int]:
    """The user's function that the claim is about, its compilations, and how many functions of that name there are;
    of several the one with most compilations.

    It is one that the message names or, where it names none that was compiled, one that was jitted or compiled at
    the claim's own statement. Related statements alone prove nothing: a line that calls `main` has everything
    under it. Where a boundary of the name is made at the claim's statements, others of that name do not count.
    """
    own = claim._replace(related=())
    return (
        _most(_meant(claim, seen), claim)
        or _most(_under(own, seen), claim)
        or _most(definitions.made_at(claim, seen), claim)
        or ("", [], 0)
    )


def _meant(claim: Claim, seen: Observed) -> list[Event]:
    """What was compiled of functions that the message names."""
    named = [event for event in _under(claim, seen) if f"`{event['name']}`" in claim.finding.message]
    made_here = definitions.numbers(claim, seen)
    return [event for event in named if event["boundary"] in made_here] or named


def _under(claim: Claim, seen: Observed) -> Iterator[Event]:
    """What was compiled of boundaries that the claim's statements define or make, or while they ran."""
    made = {event["at"] for event in definitions.made_at(claim, seen)}
    for event in seen.compiles:
        if event["at"] in made or (claim.touches(event["stack"]) and definitions.is_users(event)):
            yield event


def _most(events: Iterable[Event], claim: Claim) -> tuple[str, list[Event], int] | None:
    """The name that most was compiled under, by one function object unless new ones of one definition are what the
    claim is about, and how many objects of the name there are."""
    groups: dict[tuple[str, Hashable, object], list[Event]] = defaultdict(list)
    anew = claim.finding.code in _MADE_ANEW
    for event in events:
        groups[str(event["name"]), definitions.of(event), None if anew else event["function"]].append(event)
    if not groups:
        return None
    (name, *_), most = max(groups.items(), key=lambda item: len(item[1]))
    return name, most, sum(other == name for other, *_ in groups)


def _by_the_calls(claim: Claim, seen: Observed, made: Sequence[Event], functions: int) -> bool:
    anew = claim.finding.code in _MADE_ANEW
    return anew or rounds.again(claim, seen, made, one_function=functions == 1)


def _seconds(events: Sequence[Event]) -> float:
    return round(sum(float(event["seconds"]) for event in events), 3)
