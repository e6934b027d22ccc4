"""One run: files → gate → index → flow → facts → suspects → focus → rules → findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jaxlint import memory
from jaxlint.dependencies.names import format_of
from jaxlint.finding import Finding
from jaxlint.project.deep import with_deep_stack
from jaxlint.project.files import SourceFile
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings
from jaxlint.rule import Rule
from jaxlint.session import Session


def check(
    files: Sequence[SourceFile],
    project: Project,
    settings: Settings,
    rules: Sequence[Rule],
    *,
    jobs: int = 1,
    cache: bool = True,
) -> list[Finding]:
    """The findings in `files`, before suppressions, sorted by place.

    The rest of the project is read for what it defines and whom it calls, so that one file alone gives the
    findings it has in a run over everything. Files that cannot be parsed give JAX001, a rule that fails
    JAX000; both leave every other finding in place.
    """
    modules = [file for file in files if not format_of(file.path)]
    found: list[Finding] = []
    if modules:
        with memory.kept():
            found = _findings(Session(modules, project, rules))
    if len(modules) < len(files):
        from jaxlint.dependencies import check as dependencies

        found += dependencies.findings([file for file in files if format_of(file.path)], project, rules)
    wanted = {file.path for file in files}
    return merge(finding for finding in found if finding.path in wanted)


def _findings(session: Session) -> list[Finding]:
    # Sources decide how deep the recursion goes: an expression of 1,500 terms is a tree 1,500 nodes deep.
    outcomes = with_deep_stack(lambda: [session.outcome(root) for root in reversed(session.roots)])
    return session.problems + [finding for outcome in outcomes for finding in outcome.findings]


def merge(findings: Iterable[Finding]) -> list[Finding]:
    """Sorted, one for each code and place: the most severe and most certain where several runs found it."""
    best: dict[tuple[str, object], Finding] = {}
    for finding in findings:
        key = finding.code, finding.place
        known = best.get(key)
        if known is None or _weight(finding) > _weight(known):
            best[key] = finding
    return sorted(best.values(), key=lambda f: (f.place, f.code, f.message))


def _weight(finding: Finding) -> tuple[int, int, int, str]:
    return finding.severity.rank, finding.confidence.rank, len(finding.related), finding.message
