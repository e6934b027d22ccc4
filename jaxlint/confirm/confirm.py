"""`--confirm`: from findings to findings with verdicts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from jaxlint.confirm import interpreter
from jaxlint.confirm.availability import availability
from jaxlint.confirm.claim import Claim
from jaxlint.confirm.claims import Claims
from jaxlint.confirm.judgement import Judged
from jaxlint.confirm.judging import Judging
from jaxlint.confirm.measurements import measurements
from jaxlint.confirm.observing import Observer
from jaxlint.confirm.options import Options
from jaxlint.confirm.process import Raised, Unanswered
from jaxlint.confirm.programs import Programs
from jaxlint.confirm.progress import bar
from jaxlint.confirm.recipes import NO_RUN, RECIPES
from jaxlint.confirm.runs import Runs
from jaxlint.confirm.targets import Target, parse
from jaxlint.confirm.verdict import Outcome, Verdict, unknown
from jaxlint.dependencies.names import format_of
from jaxlint.engine_codes import ENGINE_CODES
from jaxlint.finding import Finding, Severity
from jaxlint.project.source import SourceError
from jaxlint.project.workspace import Part
from jaxlint.record import replace
from jaxlint.recording.history import History

_ENGINE = frozenset(code.code for code in ENGINE_CODES)


def confirm(
    findings: Sequence[Finding],
    part: Part,
    options: Options,
    history: History | None = None,
    *,
    cache: bool = False,
) -> list[Finding]:
    """The findings, each with a verdict for every target.

    `history` is a record, which knows real calls; with `cache` the figures of executables are kept between runs.

    A finding whose claim was refuted wherever it could be decided drops to a note; a fix that changes results or
    saves nothing is withdrawn. Raises ConfirmError where no jax is to be had, UnknownTarget for a target.
    """
    targets = parse(options.targets)
    concerned = [finding for finding in findings if finding.code not in _ENGINE]
    if not concerned:
        return list(findings)
    python = interpreter.find(options.python, part.project)
    claims = Claims(part)
    programs = Programs(claims, part.project)
    known = measurements(part.project) if cache else None
    judged: dict[int, list[Judged]] = {}
    for number, (environment, group) in enumerate(_by_environment(targets)):
        # What a program does is the same for every target, what its executables take is not.
        todo = [f for f in concerned if not number or _is_of_memory(f.code)]
        with (
            bar(len(todo)) as progress,
            Observer(python, os.getcwd(), environment, options, progress.say, known) as observer,
        ):
            _check_jax(python, observer)
            ready, missing = _ready(group, observer)
            for program, here in _by_program(todo, claims, programs):
                for one, result in _judged(claims, program, here, observer, options, ready, history):
                    judged.setdefault(id(one.finding), []).append(result)
                    progress.advance()
            for finding in concerned:
                judged.setdefault(id(finding), []).append(Judged(missing))
    return [_with(finding, judged.get(id(finding), [])) for finding in findings]


def _by_program(
    findings: Sequence[Finding], claims: Claims, programs: Programs
) -> list[tuple[str, list[Claim]]]:
    """The claims, by the program that shows them."""
    found: dict[str, list[Claim]] = {}
    for finding in findings:
        one = claims.of(finding)
        found.setdefault(programs.of(one.site.file), []).append(one)
    return list(found.items())


def _judged(
    claims: Claims,
    program: str,
    here: Sequence[Claim],
    observer: Observer,
    options: Options,
    targets: Sequence[Target],
    history: History | None,
) -> Iterator[tuple[Claim, Judged]]:
    """The claims that one program shows, judged."""
    if not targets:
        return
    if format_of(program):
        yield from ((one, Judged((unknown(targets[0].name, NO_RUN),))) for one in here)
        return
    try:
        judging = Judging(Runs(observer, options, targets, program, claims.sources, history))
    except SourceError as error:
        yield from ((one, Judged((unknown(targets[0].name, str(error)),))) for one in here)
        return
    yield from judging.judge(here)


def _by_environment(targets: Sequence[Target]) -> list[tuple[dict[str, str], list[Target]]]:
    """The targets, together where one process can compile for them."""
    groups: list[tuple[dict[str, str], list[Target]]] = []
    for target in targets:
        environment = target.environment
        for known, group in groups:
            shared = known.get("JAX_PLATFORMS") == environment.get("JAX_PLATFORMS")
            if shared and all(known.get(name, value) == value for name, value in environment.items()):
                known.update(environment)
                group.append(target)
                break
        else:
            groups.append((dict(environment), [target]))
    return groups


def _check_jax(python: str, observer: Observer) -> None:
    try:
        problem = interpreter.problem(python, observer.versions())
    except (Unanswered, Raised) as error:
        problem = str(error)
    if problem:
        raise interpreter.NoInterpreter(problem)


def _ready(targets: Sequence[Target], observer: Observer) -> tuple[list[Target], tuple[Verdict, ...]]:
    """The targets that can be compiled for, and a verdict for each other one that says what is missing."""
    installed = observer.installed()
    ready, missing = [], []
    for target in targets:
        state = availability(target, installed)
        if state.ready:
            ready.append(target)
        else:
            remedy = f": {state.install}" if state.install else ""
            missing.append(unknown(target.name, f"{state.reason}{remedy}"))
    return ready, tuple(missing)


def _with(finding: Finding, judged: Sequence[Judged]) -> Finding:
    """The finding with its verdicts."""
    verdicts = tuple(verdict for one in judged for verdict in one.verdicts)
    decided = [verdict.outcome for verdict in verdicts if verdict.outcome is not Outcome.UNKNOWN]
    if decided and all(outcome is Outcome.REFUTED for outcome in decided):
        finding = replace(finding, severity=Severity.INFO)
    if any(one.withdrawn for one in judged):
        finding = replace(finding, fix=None)
    return replace(finding, confirm=verdicts)


def _is_of_memory(code: str) -> bool:
    recipe = RECIPES.get(code)
    return recipe is not None and recipe.memory
