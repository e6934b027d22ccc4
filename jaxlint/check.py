"""One run: files → gate → index → flow → facts → suspects → focus → rules → findings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from jaxlint import memory
from jaxlint.dependencies.names import format_of
from jaxlint.digest import digest
from jaxlint.finding import Finding
from jaxlint.project import stored
from jaxlint.project.cache import DIRECTORY, Cache, environment, fingerprint
from jaxlint.project.files import SourceFile
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings
from jaxlint.project.toml import TomlError
from jaxlint.record import replace
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
    JAX000; both leave every other finding in place. What was found is kept in the project's cache directory for
    the next run over the same sources; neither that nor the number of processes (`jobs`) makes a difference to it.
    """
    modules = [file for file in files if not format_of(file.path)]
    found: list[Finding] = []
    if modules:
        with memory.kept():
            found = _findings(Session(modules, project, rules), jobs, _cache(project) if cache else None)
    if len(modules) < len(files):
        from jaxlint.dependencies import check as dependencies

        found += dependencies.findings([file for file in files if format_of(file.path)], project, rules)
    wanted = {file.path for file in files}
    return merge(finding for finding in found if finding.path in wanted)


def _findings(session: Session, jobs: int, cache: Cache | None) -> list[Finding]:
    key = _key(session) if cache is not None else ""
    known = stored.from_json(cache.get(key)) if cache is not None and key else None
    if known is not None:
        return known
    from jaxlint.pool import analyse

    found, lasting = analyse(session, jobs)
    if cache is not None and key and lasting:
        cache.put(key, stored.to_json(found))
    return found


def _cache(project: Project) -> Cache | None:
    """None without a project: there is no place for it then."""
    directory = project.settings.cache_dir or (project.root and os.path.join(project.root, DIRECTORY))
    return Cache(directory) if directory else None


def _key(session: Session) -> str:
    """Stands for all that findings are made of: the analysis, what it runs in, the settings, and every source of
    the project, so that a change in another module is never missed."""
    project, sources = session.project, session.sources
    try:
        asks = project.requires_python, project.jax_version, project.equinox_version, project.flax_version
    except TomlError:
        return ""  # no key: nothing is kept
    settings = replace(project.settings, jobs=0, output_format="")  # they make no difference
    return digest(
        fingerprint(rule.meta.page for rule in session.rules),
        environment(),
        repr([rule.meta.code for rule in session.rules]),
        repr((project.root, settings, project.names_x64(), asks)),
        repr([(path, file.path) for path, file in sorted(sources.given.items())]),
        repr([(path, problem.message) for path, problem in sorted(session.unreadable.items())]),
        repr(sorted(sources.digests.items())),
    )


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
