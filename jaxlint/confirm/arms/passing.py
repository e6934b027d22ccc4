"""JAX306, and JAX303 outside jit: what a statement holds in passing, and what under jit or as fixed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from jaxlint.confirm.arms.memory import Threshold, arm, too_little
from jaxlint.confirm.claim import Claim
from jaxlint.confirm.judgement import Judgement, confirmed, refuted, undecided
from jaxlint.confirm.observed import Observed
from jaxlint.confirm.wording import size

UNDER_JIT = "under jit"


def judge(claim: Claim, seen: Observed, threshold: Threshold) -> Judgement:
    """Confirmed where arrays are there for a moment that neither were before nor stay."""
    runs = [run for run in seen.runs(claim.site) if "peak_bytes" in run and "after" in run]
    if not runs:
        if any(run["tracing"] for run in seen.runs(claim.site)):
            return refuted(f"line {claim.site.first} ran in traced code only")
        return undecided(seen.not_reached(claim.site))
    peak, stays = max((_own(run) for run in runs), key=lambda own: own[0] - own[1])
    figures = f"{size(peak)} of arrays at the peak, of which {size(stays)} stay"
    if threshold.passed(peak - stays, peak):
        return confirmed(figures)
    return refuted(f"{figures}: what counts is {threshold}")


def _own(run: Mapping[str, Any]) -> tuple[int, int]:
    """The bytes that a statement added to what was there: at its peak, and in the end."""
    before = int(run["before"]["device_bytes"])
    return int(run["peak_bytes"]) - before, max(0, int(run["after"]["device_bytes"]) - before)


def peak_of(claim: Claim, seen: Observed) -> int:
    """The most that a run of the statement added."""
    return max(
        (_own(run)[0] for run in seen.runs(claim.site) if "peak_bytes" in run and "after" in run), default=0
    )


def beside_fix(claim: Claim, seen: Observed, fixed: Observed, threshold: Threshold) -> Judgement:
    """What a statement adds at its peak, and what it adds in a fixed program that was watched there alone."""
    before = peak_of(claim, seen)
    after = max(
        (_own(run)[0] for run in fixed.watched if "peak_bytes" in run and "after" in run), default=None
    )
    if after is None:
        return undecided("the statement did not run in the fixed program")
    figures = f"{size(before)} of arrays at the peak as written, {size(after)} as fixed"
    if threshold.passed(before - after, before):
        return confirmed(figures)
    return too_little("the fix", before - after, threshold, figures)


def jitted_there(claim: Claim, fixed: Observed) -> int | None:
    """The trace of what was jitted at the claim's statement in a fixed copy of the program."""
    name = os.path.basename(claim.site.file)
    for about in fixed.boundaries:
        for file, line, _ in about["wrapped"]:
            here = os.path.basename(str(file)) == name and claim.site.first <= int(line) <= claim.site.last
            if here and about["kept"]:
                return int(max(about["kept"], key=lambda kept: int(kept["bytes"]))["id"])
    return None


def beside_jit(written: Judgement, peak: int, figures: Mapping[str, Any], threshold: Threshold) -> Judgement:
    """The same beside what the executable takes that jit makes of it: output and scratch memory."""
    jitted = arm(UNDER_JIT, figures)
    taken = jitted.own_bytes or 0
    reason = f"{written.reason}; {size(taken)} under jit"
    if threshold.passed(peak - taken, peak):
        return confirmed(reason, jitted)
    return refuted(f"{reason}, which saves less than {threshold}", jitted)
