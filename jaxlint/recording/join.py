"""A record beside the findings: what happened confirms a finding, and what none foresaw becomes JAX190."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from jaxlint.confirm.claim import Claim
from jaxlint.confirm.claims import Claims
from jaxlint.confirm.verdict import Arm, Outcome, Verdict, unknown
from jaxlint.confirm.wording import times
from jaxlint.engine_codes import OBSERVED_RETRACE
from jaxlint.finding import Finding, Place, Related, Severity, Span
from jaxlint.project.files import SourceFile
from jaxlint.project.source import SourceError, decode, read_bytes
from jaxlint.project.workspace import Part
from jaxlint.record import replace
from jaxlint.recording.changes import CLAIMED, Cause, Change
from jaxlint.recording.history import Boundary, Eager, History, Site, Trace

TARGET = "record"  # what a verdict that rests on a record names in a target's place
AS_RECORDED = "as recorded"

_EAGER = "JAX109"  # control flow outside any boundary
_CONTROL_FLOW = ("scan", "while", "cond", "map", "branches", "fori", "_where_", "checkpoint")
_CLEARING = "JAX112"
RETRACES = frozenset({*CLAIMED, _EAGER, _CLEARING})

_ADVICE = {
    Cause.STATIC: "Pass it as an array, or round it to a few values.",
    Cause.FUNCTION: "Make the function once, and jit it once.",
    Cause.SHAPE: "Pad to a few sizes.",
    Cause.STRUCTURE: "Give it one structure from the start.",
    Cause.WEAK: "Give the value its dtype where it is made.",
    Cause.DTYPE: "Give the value its dtype where it is made.",
    Cause.FORM: "Call it one way everywhere.",
    Cause.SETTING: "Change it before the first call only.",
    Cause.DROPPED: "Keep what is jitted, and do not clear the caches in between.",
}


class Join:
    """The record of a program beside the findings in the files of a project."""

    def __init__(self, history: History, part: Part) -> None:
        self._history = history
        self._claims = Claims(part)
        self._files = {file.absolute: file for file in part.files}
        self._stale = {os.path.realpath(path) for path in history.stale()}
        self._cleared = [stack[0] for stack in history.cleared if stack]

    # ------------------------------------------------------------ findings

    def judged(self, findings: Sequence[Finding], before: Sequence[Finding]) -> list[Finding]:
        """Findings about retraces with what the record says of them in front of what else is known.

        `before` are the same findings as they were before anything was tested: what really happened outweighs
        what did not in a test.
        """
        return [self._with_verdict(*each) for each in zip(findings, before, strict=True)]

    def _with_verdict(self, finding: Finding, before: Finding) -> Finding:
        if finding.code not in RETRACES:
            return finding
        verdict = self._verdict(finding)
        others = finding.confirm or ()
        if verdict.outcome is Outcome.UNKNOWN and others:
            return finding
        if verdict.outcome is Outcome.CONFIRMED:
            finding = replace(finding, severity=before.severity)
        elif verdict.outcome is Outcome.REFUTED and not any(o.outcome is Outcome.CONFIRMED for o in others):
            finding = replace(finding, severity=Severity.INFO)
        return replace(finding, confirm=(verdict, *others))

    def _verdict(self, finding: Finding) -> Verdict:
        if os.path.realpath(finding.path) in self._stale:
            return unknown(TARGET, "the file has changed since it was recorded: record it again")
        claim = self._claims.of(finding)
        if finding.code == _CLEARING:
            return self._clearing(claim)
        boundaries = self._about(claim)
        if finding.code == _EAGER and not boundaries:
            return self._eager(claim)
        traces = [trace for boundary in boundaries for trace in boundary.traces]
        if not traces:
            return unknown(TARGET, "nothing was traced at these lines in the recorded run")
        again = [trace for boundary in boundaries for trace in boundary.traces[1:] if not trace.nested]
        arm = _arm(boundaries)
        causes = CLAIMED.get(finding.code, frozenset({Cause.FUNCTION}))
        agreeing = [trace for trace in again if any(change.cause in causes for change in trace.changes)]
        name = boundaries[0].name
        if agreeing:
            change = next(change for change in agreeing[0].changes if change.cause in causes)
            text = f"`{name}` was traced {times(len(traces))} in the recorded run ({change.text})"
            return Verdict(Outcome.CONFIRMED, TARGET, text, (arm,))
        wraps = max(boundary.wraps for boundary in boundaries)
        if finding.code == "JAX103" and wraps > 1 and not again:
            text = f"`{name}` was jitted {times(wraps)} in the recorded run and traced once"
            return Verdict(Outcome.REFUTED, TARGET, text, (arm,))
        if again:
            other = again[0].changes[0].text
            return unknown(TARGET, f"`{name}` was traced {times(len(traces))}, for another reason ({other})")
        return unknown(
            TARGET, f"`{name}` was traced once (calls that hit the cache leave nothing in a record)"
        )

    def _about(self, claim: Claim) -> list[Boundary]:
        """The boundaries that a finding is about: those it names, else those at its own statement."""
        traced = [boundary for boundary in self._history.boundaries if boundary.traces]
        touching = [boundary for boundary in traced if _touches(claim, boundary)]
        named = [each for each in touching if f"`{_short(each.name)}`" in claim.finding.message]
        own = [each for each in touching if _touches(claim._replace(related=()), each)]
        return named or own

    def _eager(self, claim: Claim) -> Verdict:
        found = [
            eager
            for eager in self._history.eager
            if claim._replace(related=()).touches([_as_list(site) for site in eager.stack])
        ]
        names: Counter[str] = Counter()
        for eager in found:
            names.update(_control_flow(eager))
        name, count = names.most_common(1)[0] if names else ("", 0)
        seconds = round(sum(eager.seconds for eager in found), 3)
        if count > 1:
            text = f"`{name}` was compiled {times(count)} in the recorded run"
            return Verdict(
                Outcome.CONFIRMED, TARGET, text, (Arm(AS_RECORDED, compiles=count, seconds=seconds),)
            )
        return unknown(TARGET, f"compiled {times(count)} in the recorded run: a retrace takes two calls")

    def _clearing(self, claim: Claim) -> Verdict:
        count = sum(claim.site.holds(site.path, site.line) for site in self._cleared)
        if count > 1:
            text = f"the caches were cleared here {times(count)} in the recorded run"
            return Verdict(Outcome.CONFIRMED, TARGET, text)
        return unknown(TARGET, f"the caches were cleared here {times(count)} in the recorded run")

    # ------------------------------------------------------------ what no finding foresaw

    def observed(self, findings: Iterable[Finding]) -> list[Finding]:
        """JAX190 for each boundary that was traced again after warm-up and that no finding is about."""
        foreseen = {
            (each.api, each.name, each.place)
            for finding in findings
            if finding.code in RETRACES
            for each in self._about(self._claims.of(finding))
        }
        groups: dict[tuple[str, str, Site], list[Boundary]] = defaultdict(list)
        for boundary in self._history.boundaries:
            groups[boundary.api, boundary.name, boundary.place].append(boundary)
        return [
            finding
            for key, group in groups.items()
            if key not in foreseen and (finding := self._observed(group)) is not None
        ]

    def _observed(self, group: Sequence[Boundary]) -> Finding | None:
        late = [trace for boundary in group for trace in boundary.retraces]
        at = self._place(late)
        if at is None:
            return None
        changes: Counter[str] = Counter()
        examples: dict[str, Change] = {}
        for trace in late:
            for change in trace.changes[:1]:
                key = f"{change.cause.value} {change.name}"
                changes[key] += 1
                examples.setdefault(key, change)
        most = examples[changes.most_common(1)[0][0]]
        boundary = group[0]
        message = (
            f"`{boundary.name}` was traced {times(sum(len(each.traces) for each in group))} in the recorded run, "
            f"{len(late)} of them after the warm-up ({most.text}). {_ADVICE[most.cause]}"
        )
        finding = OBSERVED_RETRACE.finding(at, message)
        file = self._files.get(os.path.realpath(boundary.place.path))
        if file is None:
            return finding
        definition = Place(file.path, _line_span(file, boundary.place.line))
        return replace(finding, related=(Related(definition, "defined here"),))

    def _place(self, traces: Sequence[Trace]) -> Place | None:
        """The line that called most of the traces, in a file that is checked and has not changed since."""
        sites: Counter[Site] = Counter()
        for trace in traces:
            site = next((s for s in trace.stack if os.path.realpath(s.path) in self._files), None)
            if site is not None and os.path.realpath(site.path) not in self._stale:
                sites[site] += 1
        if not sites:
            return None
        site = sites.most_common(1)[0][0]
        file = self._files[os.path.realpath(site.path)]
        return Place(file.path, _line_span(file, site.line))


def _touches(claim: Claim, boundary: Boundary) -> bool:
    """Whether a boundary is made, or called, at a statement of a claim."""
    places = [_as_list(boundary.wrapped), _as_list(boundary.place)]
    return claim.touches([*places, *(_as_list(site) for trace in boundary.traces for site in trace.stack)])


def _as_list(site: Site) -> list[object]:
    return [site.path, site.line, site.function]


def _short(name: str) -> str:
    return name.removeprefix("partial(").removesuffix(")").rpartition(".")[2]


def _control_flow(eager: Eager) -> dict[str, int]:
    return {name: count for name, count in eager.names.items() if name in _CONTROL_FLOW}


def _arm(boundaries: Sequence[Boundary]) -> Arm:
    return Arm(
        AS_RECORDED,
        traces=sum(len(boundary.traces) for boundary in boundaries),
        compiles=sum(boundary.compiles for boundary in boundaries),
        seconds=round(sum(trace.seconds for each in boundaries for trace in each.traces), 3),
    )


def _line_span(file: SourceFile, line: int) -> Span:
    """The code of a line."""
    try:
        text, _ = decode(read_bytes(file))
        shown = text.splitlines()[line - 1]
    except (SourceError, IndexError):
        return Span(line, 1, line, 1)
    start = len(shown) - len(shown.lstrip()) + 1
    return Span(line, start, line, len(shown.rstrip()) + 1)
