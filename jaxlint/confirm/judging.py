"""Judges the claims that one program shows: one run of it, and one for each fix that is worth a proof."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence

from jaxlint.confirm.arms import growth, passing, retrace
from jaxlint.confirm.claim import Claim
from jaxlint.confirm.judgement import Judged, Judgement, refuted, undecided, verdict_of
from jaxlint.confirm.observed import Observed
from jaxlint.confirm.observing import Program
from jaxlint.confirm.process import Raised, Unanswered
from jaxlint.confirm.proof import (
    can_be_made,
    prints_the_same,
)
from jaxlint.confirm.recipes import NO_RUN, RECIPES, UNMEASURED, Recipe
from jaxlint.confirm.runs import Runs
from jaxlint.confirm.verdict import Outcome
from jaxlint.confirm.weighing import Weighing
from jaxlint.confirm.wording import size
from jaxlint.recording.changes import CLAIMED


class Judging:
    """The claims that one program shows, judged for targets that share a worker."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._weighing = Weighing(runs)
        self._host = next((target.name for target in runs.targets if target.present), "cpu")

    def judge(self, claims: Sequence[Claim]) -> Iterator[tuple[Claim, Judged]]:
        """What became of each claim."""
        todo = []
        for one in claims:
            code = one.finding.code
            if code in RECIPES:
                todo.append(one)
            else:
                reason = UNMEASURED.get(code, NO_RUN if code.startswith("JAX7") else "no run can decide it")
                yield one, self._judged(undecided(reason))
        if not todo:
            return
        self._runs.use(todo)
        watches_growth = any(RECIPES[one.finding.code].growth for one in todo)
        try:
            written = self._runs.run(todo, growth=watches_growth)
        except (Unanswered, Raised) as error:
            for one in todo:
                yield one, self._judged(undecided(str(error)))
            return
        with tempfile.TemporaryDirectory(prefix="jaxlint-") as scratch:
            measured = {
                index: self._weighing.measure(one, written, os.path.join(scratch, str(index)))
                for index, one in enumerate(todo)
                if RECIPES[one.finding.code].memory
            }
            for index, one in enumerate(todo):
                recipe = RECIPES[one.finding.code]
                # Where no trace holds the claim it may be about what runs eagerly.
                eagerly = recipe.judge or recipe.weigh or recipe.passing
                held = not eagerly or not isinstance(measured.get(index), str)
                if index in measured and held:
                    place = os.path.join(scratch, str(index))
                    yield one, self._weighing.judged(one, written, measured[index], place)
                    continue
                if recipe.passing:
                    yield one, self._in_passing(one, written)
                    continue
                yield one, self._behaviour(one, recipe, written, todo)

    def _judged(self, judgement: Judgement, equal: bool | None = None, *, withdrawn: bool = False) -> Judged:
        return Judged((verdict_of(judgement, self._host, equal),), withdrawn)

    # ------------------------------------------------------------ what a program does

    def _behaviour(self, one: Claim, recipe: Recipe, written: Program, claims: Sequence[Claim]) -> Judged:
        judgement = recipe.judge(one, written.seen) if recipe.judge else undecided("")
        if recipe.weigh is not None:
            judgement = recipe.weigh(one, written.seen, self._runs.least)
        if one.finding.code in CLAIMED or recipe.again:
            judgement = self._retraced(one, written, judgement)
        if judgement.outcome is Outcome.UNKNOWN and (
            reason := self._runs.uses.without_inputs(one, written.seen)
        ):
            return self._judged(undecided(reason))
        if recipe.judge is growth.judge and judgement.outcome is Outcome.CONFIRMED:
            judgement = self._if_it_goes_on(one, written.seen, judgement)
        elif recipe.more is not None and judgement.outcome is Outcome.UNKNOWN:
            judgement = self._with_more(one, recipe, written, judgement)
        if recipe.compare is not None and judgement.outcome is Outcome.UNKNOWN:
            try:
                eager = self._runs.run(claims, disable_jit=True)
            except (Unanswered, Raised) as error:
                return self._judged(undecided(f"with jit switched off: {error}"))
            judgement = recipe.compare(one, written.seen, eager.seen)
        if judgement.outcome is Outcome.UNKNOWN and written.seen.stopped:
            return self._judged(
                undecided(f"{judgement.reason}; the program was stopped: --timeout allows more")
            )
        fix = one.finding.fix
        if recipe.fixed is None or judgement.outcome is not Outcome.CONFIRMED or not can_be_made(fix):
            return self._judged(judgement)
        with self._runs.fixed(one) as fixed:
            if isinstance(fixed, str):
                reason = f"{judgement.reason}; the fixed program could not be run: {fixed}"
                return self._judged(judgement._replace(reason=reason))
            if fixed.seen.raised is not None and written.seen.raised is None:
                failure = f"fix withdrawn: with it the program fails at {fixed.seen.raised_at}"
                reason = f"{judgement.reason}; {failure}"
                return self._judged(judgement._replace(reason=reason), False, withdrawn=True)
            equal = prints_the_same(written, fixed)
            judgement, pays = recipe.fixed(one, judgement, written.seen, fixed.seen)
            if not pays:
                reason = f"{judgement.reason}; fix withdrawn: it changes nothing of that"
                return self._judged(judgement._replace(reason=reason), equal or None, withdrawn=True)
            if equal:
                judgement = judgement._replace(reason=f"{judgement.reason}; it prints the same")
            return self._judged(judgement, equal or None)

    def _retraced(self, one: Claim, written: Program, judgement: Judgement) -> Judgement:
        """A retrace in a module, by what its functions did when called, else by two calls of a boundary."""
        judgement = retrace.with_uses(one, judgement, self._runs.uses.of(one, written.seen))
        how = self._runs.uses.two_calls(one) if judgement.outcome is Outcome.UNKNOWN else {}
        if not how:
            return judgement
        try:
            seen = self._runs.run([one], **how).seen
        except (Unanswered, Raised):
            return judgement
        return retrace.of_boundaries(how["wanted"], seen.exercised, judgement)

    def _in_passing(self, one: Claim, written: Program) -> Judged:
        """What runs outside jit: looked at while it runs, and as jit would have it where a fix says how."""
        if reason := self._runs.uses.without_inputs(one, written.seen):
            return self._judged(undecided(reason))
        target = next((target for target in self._runs.targets if target.present), None)
        threshold = self._runs.least
        try:
            seen = self._runs.run([one._replace(related=())], peaks=True).seen
        except (Unanswered, Raised) as error:
            return self._judged(undecided(str(error)))
        fix = one.finding.fix
        if one.finding.code == "JAX303":
            return self._stacked(one, seen)
        judgement = passing.judge(one, seen, threshold)
        if judgement.outcome is not Outcome.CONFIRMED or fix is None or not fix.edits or target is None:
            return self._judged(judgement)
        with self._runs.fixed(one, hold=True) as fixed:
            trace = None if isinstance(fixed, str) else passing.jitted_there(one, fixed.seen)
            figures = fixed.memory(trace, target) if trace is not None and not isinstance(fixed, str) else ""
        if isinstance(figures, str):
            note = "what it takes under jit could not be measured"
            return self._judged(judgement._replace(reason=f"{judgement.reason}; {note}"))
        return self._judged(passing.beside_jit(judgement, passing.peak_of(one, seen), figures, threshold))

    def _stacked(self, one: Claim, seen: Observed) -> Judged:
        """JAX303 outside jit: what is used is made beside the stack, so only the fixed program tells its size."""
        threshold, before = self._runs.least, passing.peak_of(one, seen)
        if not seen.runs(one.site):
            return self._judged(undecided(seen.not_reached(one.site)))
        if not threshold.passed(before, before):
            return self._judged(refuted(f"{size(before)} of arrays at the peak: what counts is {threshold}"))
        if not can_be_made(one.finding.fix):
            return self._judged(undecided(f"{size(before)} of arrays at the peak, it is not known of which"))
        with self._runs.fixed(one, peaks=True) as fixed:
            if isinstance(fixed, str):
                return self._judged(undecided(f"the fixed program could not be run: {fixed}"))
            if fixed.seen.raised is not None and seen.raised is None:
                failure = f"fix withdrawn: with it the program fails at {fixed.seen.raised_at}"
                return self._judged(undecided(failure), False, withdrawn=True)
            judgement = passing.beside_fix(one, seen, fixed.seen, threshold)
            return self._judged(judgement, withdrawn=judgement.outcome is Outcome.REFUTED)

    def _if_it_goes_on(self, one: Claim, seen: Observed, judgement: Judgement) -> Judgement:
        """Growth, unless it stopped while the program went on."""
        _, site = growth.at_site(one, seen)
        others = growth.around(site) if site is not None else []
        if site is None or not others:
            return judgement
        try:
            again = self._runs.run([one._replace(site=site, related=tuple(others))]).seen
        except (Unanswered, Raised):
            return judgement
        reason = growth.stopped(site, others, again)
        return undecided(f"{judgement.reason}, then no more: {reason}") if reason else judgement

    def _with_more(self, one: Claim, recipe: Recipe, written: Program, judgement: Judgement) -> Judgement:
        """The judgement from a second run, in which further statements are watched."""
        sites = recipe.more(one, written.seen) if recipe.more is not None else []
        if not sites or recipe.judge is None:
            return judgement
        wider = one._replace(related=(*one.related, *sites))
        try:
            seen = self._runs.run([wider], growth=recipe.growth).seen
        except (Unanswered, Raised):
            return judgement
        found = recipe.judge(wider, seen)
        if recipe.growth and found.outcome is Outcome.CONFIRMED:
            return self._if_it_goes_on(wider, seen, found)
        return found
