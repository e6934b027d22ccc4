"""Claims about memory: what executables take as written, and as fixed or by advice, on each target."""

from __future__ import annotations

import os
from typing import NamedTuple

from jaxlint.confirm.arms import advice, memory
from jaxlint.confirm.claim import Claim
from jaxlint.confirm.judgement import Judged, Judgement, refuted, undecided, verdict_of
from jaxlint.confirm.observing import Program
from jaxlint.confirm.proof import (
    Figures,
    Kept,
    can_be_made,
    capacity,
    comparison,
    counterpart,
    is_runnable,
    name_of,
    prints_the_same,
    same_results,
)
from jaxlint.confirm.runs import Runs
from jaxlint.confirm.targets import Target
from jaxlint.confirm.verdict import Outcome
from jaxlint.record import replace

# What jax says of a buffer that was donated and is needed all the same: then it could not be given away.
_NEEDED_AFTERWARDS = ("deleted", "donate")


class Measured(NamedTuple):
    """A memory claim of the program as written: a trace, what it is called, and what it takes on each target."""

    trace: int
    name: Kept
    figures: dict[str, Figures | str]
    advised: dict[str, dict[str, Figures | str]]  # by target, then by remedy


class Weighing:
    """Weighs the executables of a program. All is measured before anything else is run."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def measure(self, one: Claim, written: Program, scratch: str) -> Measured | str:
        trace = memory.trace(one, written.seen)
        if trace is None:
            if reason := self._runs.uses.without_inputs(one, written.seen):
                return reason
            runs = written.seen.runs(one.site)
            if runs or written.seen.boundaries:
                return "these lines ran outside of jitted functions, where what is live at the peak is not measured"
            return written.seen.not_reached(one.site)
        figures = {target.name: written.memory(trace, target) for target in self._runs.targets}
        if can_be_made(one.finding.fix) and any(is_runnable(found) for found in figures.values()):
            os.mkdir(scratch)
            if isinstance(written.outputs(trace, scratch, compare=False), str):
                os.rmdir(scratch)  # it cannot be called on such inputs
        return Measured(trace, name_of(trace, written), figures, self._advised(one, written, trace))

    def _advised(self, one: Claim, written: Program, trace: int) -> dict[str, dict[str, Figures | str]]:
        """What the executable takes if the advice of a finding that has no fix is followed."""
        remedies = () if can_be_made(one.finding.fix) else advice.REMEDIES.get(one.finding.code, ())
        return {
            target.name: {remedy: written.advised(trace, target, remedy, one) for remedy in remedies}
            for target in self._runs.targets
        }

    def judged(self, one: Claim, written: Program, measured: Measured | str, scratch: str) -> Judged:
        if isinstance(measured, str):
            return Judged(
                tuple(verdict_of(undecided(measured), target.name) for target in self._runs.targets)
            )
        fix = one.finding.fix
        if not can_be_made(fix):
            alone = self._without_fix(one, written, measured)
            return self._if_given_away(one, written, alone) if one.finding.code == "JAX301" else alone
        with self._runs.fixed(one, [measured.name]) as fixed:
            if isinstance(fixed, str):
                return self._without_fix(
                    one, written, measured, f"the fixed program could not be run: {fixed}"
                )
            if fixed.seen.raised is not None and written.seen.raised is None:
                return self._failing(one, written, measured, fixed)
            other = counterpart(measured.name, fixed)
            if other is None:
                return self._without_fix(one, written, measured, "the fixed program has no such boundary")
            return self._beside_fix(one, written, measured, fixed, other, scratch)

    def _without_fix(self, one: Claim, written: Program, measured: Measured, note: str = "") -> Judged:
        verdicts = []
        for target in self._runs.targets:
            figures = measured.figures[target.name]
            if isinstance(figures, str):
                judgement = undecided(figures)
            else:
                judgement = self._by_itself(one, written, measured, target, figures)
                judgement = judgement._replace(reason=judgement.reason + capacity(figures, target))
            if note:
                judgement = judgement._replace(reason=f"{judgement.reason}; {note}")
                if one.finding.code == "JAX301" and judgement.outcome is Outcome.CONFIRMED:
                    judgement = judgement._replace(outcome=Outcome.UNKNOWN)  # a donation has to be tried
            verdicts.append(verdict_of(judgement, target.name))
        return Judged(tuple(verdicts))

    def _if_given_away(self, one: Claim, written: Program, alone: Judged) -> Judged:
        """JAX301 without a fix that could be made: confirmed only if the program goes on without the old arrays."""
        if all(verdict.outcome is not Outcome.CONFIRMED for verdict in alone.verdicts):
            return alone
        outcome, note = self._given_away(one, written)
        return Judged(
            tuple(
                replace(verdict, outcome=outcome, reason=f"{verdict.reason}; {note}")
                if verdict.outcome is Outcome.CONFIRMED
                else verdict
                for verdict in alone.verdicts
            )
        )

    def _given_away(self, one: Claim, written: Program) -> tuple[Outcome, str]:
        """What becomes of the program when it donates as the finding shows."""
        unknown = Outcome.UNKNOWN
        if one.finding.fix is None or not one.finding.fix.edits or self._runs.uses.how:
            return (
                unknown,
                "whether anything else still needs them is not known: donate them and run the program",
            )
        with self._runs.fixed(one) as donating:
            if isinstance(donating, str):
                return unknown, f"the donating program could not be run: {donating}"
            raised = donating.seen.raised
            if raised is not None and written.seen.raised is None:
                needed = any(word in str(raised["message"]) for word in _NEEDED_AFTERWARDS)
                failure = f"with them donated the program fails at {donating.seen.raised_at}"
                return (Outcome.REFUTED if needed else unknown), failure
            if donating.seen.stopped or raised is not None:
                return unknown, "neither the program nor the donating one came to its end"
            if prints_the_same(written, donating) is False:
                return unknown, "with them donated the program prints something else"
        return Outcome.CONFIRMED, "with them donated the program ends as before"

    def _by_itself(
        self, one: Claim, written: Program, measured: Measured, target: Target, figures: Figures
    ) -> Judgement:
        """With what the finding advises, or else by what of the executable its own lines make."""
        threshold = self._runs.threshold(target, one, written)
        tried = measured.advised[target.name]
        if not tried:
            return memory.by_itself(one, written.seen, figures, threshold)
        judgement = advice.judge(one.finding.code, figures, tried, threshold)
        if isinstance(judgement, str):
            alone = memory.by_itself(one, written.seen, figures, threshold)
            return alone._replace(reason=f"{alone.reason}; {judgement}")
        return judgement

    def _failing(self, one: Claim, written: Program, measured: Measured, fixed: Program) -> Judged:
        """The fixed program fails where the one as written does not."""
        note = f"fix withdrawn: with it the program fails at {fixed.seen.raised_at}"
        message = str(fixed.seen.raised["message"]) if fixed.seen.raised is not None else ""
        if any(word in message for word in _NEEDED_AFTERWARDS):
            verdicts = tuple(verdict_of(refuted(note), target.name, False) for target in self._runs.targets)
            return Judged(verdicts, withdrawn=True)
        return self._without_fix(one, written, measured, note)._replace(withdrawn=True)

    def _beside_fix(
        self, one: Claim, written: Program, measured: Measured, fixed: Program, other: int, scratch: str
    ) -> Judged:
        compared = fixed.outputs(other, scratch, compare=True) if os.path.isdir(scratch) else None
        equal = same_results(compared)
        verdicts = []
        for target in self._runs.targets:
            before, after = measured.figures[target.name], fixed.memory(other, target)
            if isinstance(before, str) or isinstance(after, str):
                judgement = undecided(before if isinstance(before, str) else f"as fixed: {after}")
            else:
                judgement = memory.against_fix(before, after, self._runs.threshold(target, one, written))
                told = capacity(before, target) + comparison(compared)
                judgement = judgement._replace(reason=judgement.reason + told)
            verdicts.append(verdict_of(judgement, target.name, equal))
        outcomes = {verdict.outcome for verdict in verdicts}
        return Judged(tuple(verdicts), withdrawn=equal is False or outcomes == {Outcome.REFUTED})
