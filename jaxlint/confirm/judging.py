"""Judges the claims that one program shows: one run of it, and one for each fix that is worth a proof."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from jaxlint.confirm.arms import advice, memory, retrace
from jaxlint.confirm.arms.memory import Threshold
from jaxlint.confirm.chips import CUDA
from jaxlint.confirm.claim import Claim
from jaxlint.confirm.functions import Uses
from jaxlint.confirm.judgement import Judged, Judgement, refuted, undecided
from jaxlint.confirm.observing import Observer, Program
from jaxlint.confirm.options import Options
from jaxlint.confirm.process import Raised, Unanswered
from jaxlint.confirm.proof import (
    Figures,
    Fixed,
    Kept,
    can_be_made,
    capacity,
    comparison,
    counterpart,
    fixed_program,
    is_runnable,
    name_of,
    prints_the_same,
    same_results,
)
from jaxlint.confirm.recipes import NO_RUN, RECIPES, UNMEASURED, Recipe
from jaxlint.confirm.targets import Target
from jaxlint.confirm.verdict import Outcome, Verdict
from jaxlint.fix.apply import apply_fixes
from jaxlint.recording.changes import CLAIMED
from jaxlint.recording.history import History
from jaxlint.sources import Sources

# What jax says of a buffer that was donated and is needed all the same: then it could not be given away.
_NEEDED_AFTERWARDS = ("deleted", "donate")

_EXACT = ("JAX311",)  # what is counted does not depend on the kernels that XLA chooses


class _Measured(NamedTuple):
    """A memory claim of the program as written: a trace, what it is called, and what it takes on each target."""

    trace: int
    name: Kept
    figures: dict[str, Figures | str]
    advised: dict[str, dict[str, Figures | str]]  # by target, then by remedy


class Judging:
    """The claims that one program shows, judged for targets that share a worker."""

    def __init__(
        self,
        observer: Observer,
        options: Options,
        targets: Sequence[Target],
        file: str,
        sources: Sources,
        history: History | None = None,
    ) -> None:
        """`file` is the program's, absolute. Raises SourceError where it cannot be read."""
        self._history = history
        self._observer = observer
        self._options = options
        self._targets = targets
        self._file = file
        self._sources = sources
        self._source = sources.parsed(file)
        self._uses = self._used(())
        self._host = next((target.name for target in targets if target.present), "cpu")

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
        self._uses = self._used(todo)
        growth = any(RECIPES[one.finding.code].growth for one in todo)
        try:
            written = self._run(todo, growth=growth)
        except (Unanswered, Raised) as error:
            for one in todo:
                yield one, self._judged(undecided(str(error)))
            return
        with tempfile.TemporaryDirectory(prefix="jaxlint-") as scratch:
            measured = {
                index: self._measure(one, written, os.path.join(scratch, str(index)))
                for index, one in enumerate(todo)
                if RECIPES[one.finding.code].memory
            }
            for index, one in enumerate(todo):
                recipe = RECIPES[one.finding.code]
                # Where no trace holds the claim it may be about what runs eagerly.
                held = recipe.judge is None or not isinstance(measured.get(index), str)
                if index in measured and held:
                    place = os.path.join(scratch, str(index))
                    yield one, self._memory(one, written, measured[index], place)
                    continue
                yield one, self._behaviour(one, recipe, written, todo)

    def _used(self, claims: Sequence[Claim]) -> Uses:
        return Uses(claims, self._file, self._source.tree, self._options.inputs, self._history)

    def _run(self, claims: Sequence[Claim], **how: Any) -> Program:
        sites = [site for one in claims for site in one.sites]
        return self._observer.program(
            self._file, self._source.text.encode(), sites, **{**self._uses.how, **how}
        )

    def _fixed(self, one: Claim, keep: Sequence[Kept] = ()) -> AbstractContextManager[Program | str]:
        file = one.site.file
        source = self._sources.parsed(file)
        assert one.finding.fix is not None
        fixed = Fixed(file, apply_fixes(source.text, [one.finding.fix]), source.encoding)
        return fixed_program(self._observer, self._file, self._source, fixed, self._uses.how, keep)

    def _judged(self, judgement: Judgement, equal: bool | None = None, *, withdrawn: bool = False) -> Judged:
        return Judged((_verdict(judgement, self._host, equal),), withdrawn)

    # ------------------------------------------------------------ what a program does

    def _behaviour(self, one: Claim, recipe: Recipe, written: Program, claims: Sequence[Claim]) -> Judged:
        judgement = recipe.judge(one, written.seen) if recipe.judge else undecided("")
        if one.finding.code in CLAIMED or recipe.again:
            judgement = self._retraced(one, written, judgement)
        if judgement.outcome is Outcome.UNKNOWN and (reason := self._uses.without_inputs(one, written.seen)):
            return self._judged(undecided(reason))
        if recipe.more is not None and judgement.outcome is Outcome.UNKNOWN:
            judgement = self._with_more(one, recipe, written, judgement)
        if recipe.compare is not None and judgement.outcome is Outcome.UNKNOWN:
            try:
                eager = self._run(claims, disable_jit=True)
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
        with self._fixed(one) as fixed:
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
        judgement = retrace.with_uses(one, judgement, self._uses.of(one, written.seen))
        how = self._uses.two_calls(one) if judgement.outcome is Outcome.UNKNOWN else {}
        if not how:
            return judgement
        try:
            seen = self._run([one], **how).seen
        except (Unanswered, Raised):
            return judgement
        return retrace.of_boundaries(how["wanted"], seen.exercised, judgement)

    def _with_more(self, one: Claim, recipe: Recipe, written: Program, judgement: Judgement) -> Judgement:
        """The judgement from a second run, in which further statements are watched."""
        sites = recipe.more(one, written.seen) if recipe.more is not None else []
        if not sites or recipe.judge is None:
            return judgement
        wider = one._replace(related=(*one.related, *sites))
        try:
            return recipe.judge(wider, self._run([wider], growth=recipe.growth).seen)
        except (Unanswered, Raised):
            return judgement

    # ------------------------------------------------------------ what an executable takes

    def _measure(self, one: Claim, written: Program, scratch: str) -> _Measured | str:
        trace = memory.trace(one, written.seen)
        if trace is None:
            if reason := self._uses.without_inputs(one, written.seen):
                return reason
            runs = written.seen.runs(one.site)
            if runs or written.seen.boundaries:
                return "these lines ran outside of jitted functions, where what is live at the peak is not measured"
            return written.seen.not_reached(one.site)
        figures = {target.name: written.memory(trace, target) for target in self._targets}
        if can_be_made(one.finding.fix) and any(is_runnable(found) for found in figures.values()):
            os.mkdir(scratch)
            if isinstance(written.outputs(trace, scratch, compare=False), str):
                os.rmdir(scratch)  # it cannot be called on such inputs
        return _Measured(trace, name_of(trace, written), figures, self._advised(one, written, trace))

    def _advised(self, one: Claim, written: Program, trace: int) -> dict[str, dict[str, Figures | str]]:
        """What the executable takes if the advice of a finding that has no fix is followed."""
        remedies = () if can_be_made(one.finding.fix) else advice.REMEDIES.get(one.finding.code, ())
        return {
            target.name: {remedy: written.advised(trace, target, remedy, one) for remedy in remedies}
            for target in self._targets
        }

    def _memory(self, one: Claim, written: Program, measured: _Measured | str, scratch: str) -> Judged:
        if isinstance(measured, str):
            return Judged(tuple(_verdict(undecided(measured), target.name) for target in self._targets))
        fix = one.finding.fix
        if not can_be_made(fix):
            return self._without_fix(one, written, measured)
        with self._fixed(one, [measured.name]) as fixed:
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

    def _without_fix(self, one: Claim, written: Program, measured: _Measured, note: str = "") -> Judged:
        verdicts = []
        for target in self._targets:
            figures = measured.figures[target.name]
            if isinstance(figures, str):
                judgement = undecided(figures)
            else:
                judgement = self._by_itself(one, written, measured, target, figures)
                judgement = judgement._replace(reason=judgement.reason + capacity(figures, target))
            if note:
                judgement = judgement._replace(reason=f"{judgement.reason}; {note}")
            verdicts.append(_verdict(judgement, target.name))
        return Judged(tuple(verdicts))

    def _by_itself(
        self, one: Claim, written: Program, measured: _Measured, target: Target, figures: Figures
    ) -> Judgement:
        """With what the finding advises, or else by what of the executable its own lines make."""
        threshold = self._threshold(target, one, written)
        tried = measured.advised[target.name]
        if not tried:
            return memory.by_itself(one, written.seen, figures, threshold)
        judgement = advice.judge(one.finding.code, figures, tried, threshold)
        if isinstance(judgement, str):
            alone = memory.by_itself(one, written.seen, figures, threshold)
            return alone._replace(reason=f"{alone.reason}; {judgement}")
        return judgement

    def _failing(self, one: Claim, written: Program, measured: _Measured, fixed: Program) -> Judged:
        """The fixed program fails where the one as written does not."""
        note = f"fix withdrawn: with it the program fails at {fixed.seen.raised_at}"
        message = str(fixed.seen.raised["message"]) if fixed.seen.raised is not None else ""
        if any(word in message for word in _NEEDED_AFTERWARDS):
            verdicts = tuple(_verdict(refuted(note), target.name, False) for target in self._targets)
            return Judged(verdicts, withdrawn=True)
        return self._without_fix(one, written, measured, note)._replace(withdrawn=True)

    def _beside_fix(
        self, one: Claim, written: Program, measured: _Measured, fixed: Program, other: int, scratch: str
    ) -> Judged:
        compared = fixed.outputs(other, scratch, compare=True) if os.path.isdir(scratch) else None
        equal = same_results(compared)
        verdicts = []
        for target in self._targets:
            before, after = measured.figures[target.name], fixed.memory(other, target)
            if isinstance(before, str) or isinstance(after, str):
                judgement = undecided(before if isinstance(before, str) else f"as fixed: {after}")
            else:
                judgement = memory.against_fix(before, after, self._threshold(target, one, written))
                judgement = judgement._replace(reason=judgement.reason + capacity(before, target))
            judgement = judgement._replace(reason=judgement.reason + comparison(compared))
            verdicts.append(_verdict(judgement, target.name, equal))
        outcomes = {verdict.outcome for verdict in verdicts}
        return Judged(tuple(verdicts), withdrawn=equal is False or outcomes == {Outcome.REFUTED})

    def _threshold(self, target: Target, one: Claim, written: Program) -> Threshold:
        """From when on a saving counts. Where sizes are made up, for annotations, only its share says something."""
        if self._uses.are_made_up(one, written.seen):
            return Threshold(1, self._options.min_share)
        if target.kind == CUDA and one.finding.code not in _EXACT:
            return Threshold(self._options.min_bytes_cuda, self._options.min_share, noise=True)
        return Threshold(self._options.min_bytes, self._options.min_share)


def _verdict(judgement: Judgement, target: str, equal: bool | None = None) -> Verdict:
    reason = " ".join(judgement.reason.split())
    return Verdict(judgement.outcome, target, reason, judgement.arms, equal)
