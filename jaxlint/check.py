"""One run: files → gate → index → flow → facts → suspects → focus → rules → findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from jaxlint import memory
from jaxlint.dependencies.names import format_of, states_dependencies
from jaxlint.earlier import Earlier, earlier_runs
from jaxlint.finding import Finding
from jaxlint.project.deep import with_deep_stack
from jaxlint.project.files import SourceFile
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings
from jaxlint.rule import Rule
from jaxlint.session import Outcome, Session

R = TypeVar("R")

_ENOUGH = 16  # modules; for fewer a process costs more than it saves


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
    JAX000; both leave every other finding in place. What was found is kept in the project's cache directory for
    the next run; neither that nor the number of processes (`jobs`) makes a difference to it.
    """
    modules = [file for file in files if not format_of(file.path)]
    found: list[Finding] = []
    if modules:
        with memory.kept():
            known = _from_host(modules, project, rules, cache)
            found = known if known is not None else _in_modules(modules, project, rules, jobs, cache)
    stating = [file for file in files if states_dependencies(file.path)]
    if stating:
        from jaxlint.dependencies import check as dependencies

        found += dependencies.findings(stating, project, rules)
    wanted = {file.path for file in files}
    return merge(finding for finding in found if finding.path in wanted)


def _from_host(
    files: Sequence[SourceFile], project: Project, rules: Sequence[Rule], cache: bool
) -> list[Finding] | None:
    """What is found in one file of a host that comes with one after the other, and with its tree."""
    if not cache or not project.root or len(files) != 1 or files[0].tree is None:
        return None
    from jaxlint.standing import standing

    return standing(project, rules).findings(files[0])


def _in_modules(
    files: Sequence[SourceFile], project: Project, rules: Sequence[Rule], jobs: int, cache: bool
) -> list[Finding]:
    """What is found in Python files, here or by an earlier run."""
    earlier = earlier_runs(project, rules) if cache else None
    session = Session(files, project, rules, earlier.records if earlier is not None else dict)
    known = earlier.run(session) if earlier is not None else None
    if known is not None:
        return known
    outcomes = _outcomes(session, jobs, earlier)
    found = session.problems + [finding for outcome in outcomes.values() for finding in outcome.findings]
    if earlier is not None:
        earlier.keep(session, outcomes, found)
    return found


def _outcomes(session: Session, jobs: int, earlier: Earlier | None) -> dict[str, Outcome]:
    """The outcome of each root, by absolute path."""
    # Sources decide how deep the recursion goes: an expression of 1,500 terms is a tree 1,500 nodes deep.
    unindexed = session.unindexed()
    if jobs > 1 and len(unindexed) >= _ENOUGH:
        for path, indexed in _in_processes(session, session.index, unindexed, jobs):
            session.take(path, indexed)
    outcomes = with_deep_stack(lambda: _known(session, earlier)) if earlier is not None else {}
    # The other way round than they were indexed: the trees of the last ones are still there.
    rest = [root.absolute for root in reversed(session.roots) if root.absolute not in outcomes]
    if jobs > 1 and len(rest) >= _ENOUGH:
        with_deep_stack(lambda: session.prepare_for_copies(jobs))
        for path, outcome in _in_processes(session, session.outcome, rest, jobs):
            if isinstance(outcome, Finding):
                outcome = Outcome([outcome], [], [], lasting=False)
            outcomes[path] = outcome
    else:
        outcomes |= with_deep_stack(lambda: {path: session.outcome(path) for path in rest})
    return outcomes


def _known(session: Session, earlier: Earlier) -> dict[str, Outcome]:
    """The outcomes of an earlier run that still hold."""
    found = ((root.absolute, earlier.outcome(root, session)) for root in session.roots)
    return {path: outcome for path, outcome in found if outcome is not None}


def _in_processes(
    session: Session, work: Callable[[str], R], paths: Sequence[str], jobs: int
) -> Iterator[tuple[str, R | Finding]]:
    """The session's work on each path, or JAX000 where the process did not survive it."""
    from jaxlint.pool import Died, each

    for path, result in each(work, paths, jobs):
        yield path, session.failure(path, result.reason) if isinstance(result, Died) else result


def merge(findings: Iterable[Finding]) -> list[Finding]:
    """Sorted, one for each code and place: the most severe and most certain where several runs found it."""
    best: dict[tuple[str, object], Finding] = {}
    for finding in findings:
        key = finding.code, finding.place
        known = best.get(key)
        if known is None or _weight(finding) > _weight(known):
            best[key] = finding
    return sorted(best.values(), key=lambda f: (f.place, f.code, f.message))


def _weight(finding: Finding) -> tuple[object, ...]:
    """The order of what several runs say of one place. It is total: who comes first makes no difference."""
    related = [(related.place, related.message) for related in finding.related]
    fix = finding.fix.edits if finding.fix is not None else ()
    edits = [(edit.span, edit.text) for edit in fix]
    certain = finding.severity.rank, finding.confidence.rank, len(related)
    return *certain, finding.message, finding.symbol, related, edits
