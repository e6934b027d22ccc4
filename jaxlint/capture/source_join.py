"""From a claim about memory to the finding of the static analysis that stands at the same line."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator, Sequence

from jaxlint.capture.claim import Claim, Source
from jaxlint.capture.frames import Frame
from jaxlint.capture.report import Report
from jaxlint.finding import Finding, Severity
from jaxlint.record import replace

_MOST = 5  # findings of a claim


def joined(report: Report, findings: Sequence[Finding]) -> Report:
    """The report whose claims name the findings that are about the same."""
    claims = tuple(
        replace(claim, sources=tuple(map(_source, _about(claim, findings)[:_MOST])))
        for claim in report.claims
    )
    return replace(report, claims=claims)


def findings_in(paths: Sequence[str], codes: Iterable[str]) -> tuple[list[Finding], list[str]]:
    """What the rules of these codes find in files and directories, and what is wrong with the paths.

    Raises SettingsError or TomlError.
    """
    from jaxlint import registry
    from jaxlint.check import check
    from jaxlint.project.policy import Policy
    from jaxlint.project.workspace import survey

    wanted = tuple(sorted(set(codes)))
    workspace = survey(
        paths,
        override=lambda settings: replace(
            settings, select=wanted, extend_select=(), ignore=(), preview=True, min_severity=Severity.INFO
        ),
    )
    rules = registry.listed()
    found: list[Finding] = []
    for part in workspace.parts:
        policy = Policy(part.project, rules, min_severity=Severity.INFO)
        found += check(part.files, part.project, part.settings, policy.rules, cache=False)
    return [finding for finding in found if finding.code in wanted], list(workspace.problems)


def _about(claim: Claim, findings: Sequence[Finding]) -> list[Finding]:
    """At a line of the claim; else about its function, by name."""
    candidates = [finding for finding in findings if finding.code in claim.rules]
    alike = {id(f): max((_likeness(f, frame) for frame in claim.frames), default=0) for f in candidates}
    most = max(alike.values(), default=0)
    if most:
        return [finding for finding in candidates if alike[id(finding)] == most]
    return [finding for finding in candidates if claim.function and _names(finding, claim.function)]


def _likeness(finding: Finding, frame: Frame) -> int:
    """Whether a line lies in the finding's place, or in one that explains it: how much of the path is the same."""
    places = [finding.place, *(related.place for related in finding.related)]
    holding = [place for place in places if place.span.line <= frame.line <= place.span.end_line]
    return max((_common_parts(place.path, frame.file) for place in holding), default=0)


def _common_parts(here: str, there: str) -> int:
    """A capture was taken elsewhere: what is the same are the last parts of the path."""
    mine, theirs = (os.path.abspath(path).replace("\\", "/").split("/") for path in (here, there))
    common = 0
    while common < min(len(mine), len(theirs)) and mine[-1 - common] == theirs[-1 - common]:
        common += 1
    return common


def _names(finding: Finding, function: str) -> bool:
    return finding.symbol.rpartition(".")[2] == function or f"`{function}`" in finding.message


def _source(finding: Finding) -> Source:
    return Source(
        code=finding.code,
        slug=finding.slug,
        path=finding.path,
        line=finding.span.line,
        column=finding.span.column,
        message=" ".join(finding.message.split()),
        fix=finding.fix.title if finding.fix is not None else "",
        change="".join(_change(finding)),
    )


def _change(finding: Finding) -> Iterator[str]:
    """The fix as a unified diff; nothing where it cannot be made."""
    if finding.fix is None or not finding.fix.edits:
        return
    from jaxlint.fix.apply import apply
    from jaxlint.project.files import SourceFile
    from jaxlint.project.source import SourceError, decode, read_bytes

    try:
        text = decode(read_bytes(SourceFile(finding.path, os.path.abspath(finding.path))))[0]
        after = apply(text, finding.fix.edits)
    except (SourceError, ValueError):
        return
    lines = difflib.unified_diff(
        text.splitlines(), after.splitlines(), finding.path, finding.path, lineterm="", n=1
    )
    yield from (line + "\n" for line in lines)


def codes_of(reports: Iterable[Report]) -> set[str]:
    """The rules that the claims speak of."""
    return {code for report in reports for claim in report.claims for code in claim.rules}
