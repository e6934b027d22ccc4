"""Roots shared out among processes. Each is a run of its own, so the split makes no difference to what is found."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

from jaxlint.engine_codes import internal_error
from jaxlint.finding import Finding
from jaxlint.index.table import ModuleEntry
from jaxlint.project.deep import with_deep_stack
from jaxlint.session import Session

ENOUGH = 16  # roots; for fewer a process costs more than it saves
_PIECES = 4  # a process, so that one expensive module does not hold up the rest


class Analysed(NamedTuple):
    """The findings of some roots. What is not `lasting` is not to be kept for another run."""

    findings: list[Finding]
    lasting: bool


_session: Session | None = None  # what a forked process begins with


def analyse(session: Session, jobs: int) -> Analysed:
    """The findings of a session's roots and the problems of its files, in at most `jobs` processes.

    Processes are forked: they begin with all that is known. Where that is not possible or not safe (Windows,
    macOS) there is one. A process that dies gives JAX000 for the module it died of.
    """
    roots = session.roots
    if jobs < 2 or len(roots) < ENOUGH or sys.platform != "linux":
        return _analyse(session, roots)
    size = -(-len(roots) // (jobs * _PIECES))
    chunks = [roots[start : start + size] for start in range(0, len(roots), size)]
    done, lost = _in_processes(session, chunks, jobs)
    for root in (root for chunk in lost for root in chunk):  # each alone, to see whose fault it was
        again, dead = _in_processes(session, [[root]], 1)
        done += again
        if dead:
            done.append(Analysed([internal_error(root.path, "the process that analysed it died")], False))
    findings = session.problems + [finding for part in done for finding in part.findings]
    return Analysed(findings, all(part.lasting for part in done))


def _analyse(session: Session, roots: Sequence[ModuleEntry]) -> Analysed:
    # Sources decide how deep the recursion goes: an expression of 1,500 terms is a tree 1,500 nodes deep.
    outcomes = with_deep_stack(lambda: [session.outcome(root) for root in reversed(roots)])
    findings = session.problems + [finding for outcome in outcomes for finding in outcome.findings]
    return Analysed(findings, all(outcome.lasting for outcome in outcomes))


def _in_processes(
    session: Session, chunks: Sequence[Sequence[ModuleEntry]], jobs: int
) -> tuple[list[Analysed], list[Sequence[ModuleEntry]]]:
    """(what came back, chunks that did not)."""
    import multiprocessing  # these take as long to import as a small run does
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    global _session
    _session = session
    done: list[Analysed] = []
    lost: list[Sequence[ModuleEntry]] = []
    try:
        with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("fork")) as pool:
            futures = [(chunk, pool.submit(_work, [root.absolute for root in chunk])) for chunk in chunks]
            for chunk, future in futures:
                try:
                    done.append(future.result())
                except BrokenProcessPool:
                    lost.append(chunk)
    finally:
        _session = None
    return done, lost


def _work(paths: Sequence[str]) -> Analysed:
    assert _session is not None
    entries = _session.survey.table.entries
    return _analyse(_session, [entries[path] for path in paths])
