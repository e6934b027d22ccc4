"""`--confirm`: from findings to findings with verdicts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from jaxlint.confirm import interpreter
from jaxlint.confirm.claim import Claim, claim
from jaxlint.confirm.judgement import Judgement, undecided
from jaxlint.confirm.observed import Observed
from jaxlint.confirm.observing import Observer
from jaxlint.confirm.options import Options
from jaxlint.confirm.overlay import Overlay
from jaxlint.confirm.process import Raised, Unanswered
from jaxlint.confirm.recipes import RECIPES, UNMEASURED, Recipe
from jaxlint.confirm.verdict import Outcome, Verdict
from jaxlint.engine_codes import ENGINE_CODES
from jaxlint.finding import Applicability, Finding, Fix, Severity
from jaxlint.fix.apply import apply_fixes
from jaxlint.project.comments import Comments
from jaxlint.project.source import SourceError
from jaxlint.project.statements import Statements, Stretch
from jaxlint.project.workspace import Part
from jaxlint.record import replace
from jaxlint.sources import Sources

_ENGINE = frozenset(code.code for code in ENGINE_CODES)
_NOT_A_RUN = "it is a claim about what can be installed, not about a run"


def confirm(findings: Sequence[Finding], part: Part, options: Options) -> list[Finding]:
    """The findings, each with its verdicts. Raises NoInterpreter where no jax is to be had."""
    claims = [finding for finding in findings if finding.code not in _ENGINE]
    if not claims:
        return list(findings)
    python = interpreter.find(options.python, part.project)
    with Observer(python, os.getcwd(), options) as observer:
        try:
            problem = interpreter.problem(python, observer.versions())
        except Unanswered as error:
            problem = str(error)
        if problem:
            raise interpreter.NoInterpreter(problem)
        sources = Sources({file.absolute: file for file in part.files})
        verdicts: dict[int, tuple[Verdict, ...]] = {}
        for path in dict.fromkeys(finding.path for finding in claims):
            here = [finding for finding in claims if finding.path == path]
            for finding, judgement in _File(path, here, observer, sources).judgements():
                verdicts[id(finding)] = (_verdict(judgement),)
    return [_with(finding, verdicts.get(id(finding), ())) for finding in findings]


def _verdict(judgement: Judgement, target: str = "cpu") -> Verdict:
    reason = " ".join(judgement.reason.split())
    return Verdict(judgement.outcome, target, reason, judgement.arms)


def _with(finding: Finding, verdicts: tuple[Verdict, ...]) -> Finding:
    """The finding with its verdicts: a note where the claim was refuted on every target that could tell."""
    decided = [verdict.outcome for verdict in verdicts if verdict.outcome is not Outcome.UNKNOWN]
    if decided and all(outcome is Outcome.REFUTED for outcome in decided):
        finding = replace(finding, severity=Severity.INFO)
    return replace(finding, confirm=verdicts)


class _File:
    """The findings of one file, judged together by as few runs as can be."""

    def __init__(self, path: str, findings: Sequence[Finding], observer: Observer, sources: Sources) -> None:
        self._absolute = os.path.realpath(path)
        self._sources = sources
        self._observer = observer
        self._statements: dict[str, Statements | None] = {}
        self._claims = [claim(finding, self._stretch) for finding in findings]
        self._observed: dict[tuple[bool, bool], Observed | str] = {}

    def judgements(self) -> Iterable[tuple[Finding, Judgement]]:
        """Each finding's."""
        for one in self._claims:
            yield one.finding, self._judge(one)

    def _judge(self, one: Claim) -> Judgement:
        code = one.finding.code
        recipe = RECIPES.get(code)
        if recipe is None:
            return undecided(UNMEASURED.get(code, _NOT_A_RUN if code.startswith("JAX7") else "not measured"))
        return self._from_program(one, recipe)

    def _from_program(self, one: Claim, recipe: Recipe) -> Judgement:
        seen = self._program(growth=recipe.growth)
        if isinstance(seen, str):
            return undecided(seen)
        judgement = recipe.judge(one, seen) if recipe.judge is not None else undecided("")
        if recipe.compare is not None and judgement.outcome is Outcome.UNKNOWN:
            eager = self._program(disable_jit=True)
            if isinstance(eager, str):
                return undecided(eager)
            judgement = recipe.compare(one, seen, eager)
        fix = one.finding.fix
        if recipe.fixed is not None and fix is not None and judgement.outcome is Outcome.CONFIRMED:
            return self._proven(one, judgement, seen, fix, recipe.fixed)
        return judgement

    def _proven(
        self,
        one: Claim,
        written: Judgement,
        seen: Observed,
        fix: Fix,
        judge: Callable[[Claim, Judgement, Observed, Observed], Judgement],
    ) -> Judgement:
        """The judgement with what the fixed program does."""
        if fix.applicability is Applicability.DISPLAY or not fix.edits:
            return written
        try:
            source = self._sources.parsed(self._absolute)
            with Overlay(self._absolute, apply_fixes(source.text, [fix]), source.encoding) as overlay:
                fixed = self._observer.program(overlay.file, source.text.encode(), ())
        except (Unanswered, Raised, SourceError, OSError) as error:
            return Judgement(written.outcome, f"{written.reason}; as fixed: {error}", written.arms)
        return judge(one, written, seen, fixed)

    def _program(self, *, growth: bool = False, disable_jit: bool = False) -> Observed | str:
        """A run of the file, or why there is none."""
        key = growth, disable_jit
        if key not in self._observed:
            sites = [site for one in self._claims for site in one.sites]
            try:
                source = self._sources.read(self._absolute)
                self._observed[key] = self._observer.program(
                    self._absolute, source, sites, growth=growth, disable_jit=disable_jit
                )
            except (Unanswered, Raised, SourceError) as error:
                self._observed[key] = str(error)
        return self._observed[key]

    def _stretch(self, file: str, line: int, column: int) -> Stretch | None:
        if file not in self._statements:
            try:
                source = self._sources.parsed(file)
                tree = source.tree
                self._statements[file] = (
                    Statements(tree, Comments(source.text).colons) if tree is not None else None
                )
            except SourceError:
                self._statements[file] = None
        statements = self._statements[file]
        return statements.around(line, column) if statements is not None else None
