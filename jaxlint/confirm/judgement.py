"""What an arm makes of what was observed."""

from __future__ import annotations

from typing import NamedTuple

from jaxlint.confirm.verdict import Arm, Outcome, Verdict


class Judgement(NamedTuple):
    """An outcome with the figures that decided it. `arms` has what was measured of the code as written."""

    outcome: Outcome
    reason: str
    arms: tuple[Arm, ...] = ()


class Judged(NamedTuple):
    """What became of a claim. A fix that does not hold what it promises is withdrawn."""

    verdicts: tuple[Verdict, ...]
    withdrawn: bool = False


def confirmed(reason: str, *arms: Arm) -> Judgement:
    """It is so."""
    return Judgement(Outcome.CONFIRMED, reason, arms)


def refuted(reason: str, *arms: Arm) -> Judgement:
    """It is not so."""
    return Judgement(Outcome.REFUTED, reason, arms)


def undecided(reason: str, *arms: Arm) -> Judgement:
    """It could not be told, and why."""
    return Judgement(Outcome.UNKNOWN, reason, arms)


def verdict_of(judgement: Judgement, target: str, equal: bool | None = None) -> Verdict:
    """The verdict that a judgement is on a target; `equal` says whether both arms computed the same."""
    reason = " ".join(judgement.reason.split())
    return Verdict(judgement.outcome, target, reason, judgement.arms, equal)
