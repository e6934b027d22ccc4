"""Claims that a trace keeps what it saw: baked-in values, effects that happen once, changes that are not seen.

All of it shows in what ran when: a line of traced code runs while jax traces and not when the compiled function
is called; and a change after the last trace is a change that no call has seen.
"""

from __future__ import annotations

import math
import re

from jaxlint.confirm.arms import faults
from jaxlint.confirm.claim import Claim, Site
from jaxlint.confirm.judgement import Judgement, confirmed, refuted, undecided
from jaxlint.confirm.observed import Observed
from jaxlint.confirm.verdict import Outcome
from jaxlint.confirm.wording import count, times

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf)")
_CALLS = "calls"  # the message of a statement that is known to call the boundary
_CLOSE = 1e-3  # relative; what jit and eager arithmetic differ in is far below


def once_per_trace(claim: Claim, seen: Observed) -> Judgement:
    """JAX203, JAX204: the line runs while tracing, and more often the function is called."""
    fault = faults.judge(claim, seen) if claim.finding.code in faults.EXPECTED else None
    if fault is not None and fault.outcome is Outcome.CONFIRMED:
        return fault
    runs = seen.runs(claim.site)
    if not runs:
        return undecided(seen.not_reached(claim.site))
    line = claim.site.first
    traced = [run for run in runs if run["tracing"]]
    if not traced:
        return undecided(f"line {line} ran only outside of any trace")
    calls = max(
        seen.calls(claim), sum(_eager(site, seen) for site in claim.related if site.message == _CALLS)
    )
    if calls > len(traced):
        return confirmed(f"line {line} ran {times(len(traced))}, while tracing, for {count(calls, 'call')}")
    return undecided(f"line {line} ran while tracing, and the program makes no further call to compare with")


def _eager(site: Site, seen: Observed) -> int:
    return sum(not run["tracing"] for run in seen.runs(site))


def callers(claim: Claim, seen: Observed) -> list[Site]:
    """The lines of the file that call the boundary which traced the claim's line, wherever they are."""
    traces = {number for run in seen.runs(claim.site) for number in run.get("within") or ()}
    names = {
        re.escape(str(about["name"]).rpartition(".")[2])
        for about in seen.boundaries
        if any(kept["id"] in traces for kept in about["kept"])
    }
    if not names:
        return []
    call = re.compile(rf"(?<!def )\b(?:{'|'.join(sorted(names))})\(")
    try:
        with open(claim.site.file, encoding="utf-8", errors="replace") as stream:
            numbered = list(enumerate(stream, start=1))
    except OSError:
        return []
    return [Site(claim.site.file, n, n, _CALLS) for n, line in numbered if call.search(line)]


def unseen_change(claim: Claim, seen: Observed) -> Judgement:
    """JAX201, JAX202: the change came after a trace had read the value, and a later call traced nothing."""
    changes = [run["at"] for run in seen.runs(claim.site)]
    if not changes:
        return undecided(seen.not_reached(claim.site))
    reads, calls = _reads_and_calls(claim, seen)
    if not reads:
        return undecided("the lines that read the value did not run in traced code")
    for change in changes:
        before = [at for at in reads if at < change]
        # A trace that comes later, for another shape say, does not undo the calls that went before it.
        used = [
            until for at, until in calls if at > change and not any(change < read <= until for read in reads)
        ]
        if before and used:
            line = claim.site.first
            return confirmed(
                f"line {line} ran after a trace had read the value; {count(len(used), 'later call')} "
                "did not trace again"
            )
    if all(any(at > change for at in reads) for change in changes):
        return refuted("the value was read anew by a trace after each change")
    return undecided("no call came after the change in this run")


def _reads_and_calls(claim: Claim, seen: Observed) -> tuple[list[int], list[tuple[int, int]]]:
    """The moments at which traced code read the value, and the start and end of calls from outside."""
    reads: list[int] = []
    calls: list[tuple[int, int]] = []
    for site in claim.related:
        for run in seen.runs(site):
            if run["tracing"]:
                reads.append(run["at"])
            elif "until" in run and site != claim.site:
                calls.append((run["at"], run["until"]))
    return reads, calls


def other_without_jit(claim: Claim, seen: Observed, eager: Observed) -> Judgement:
    """JAX210, and where lines do not tell: the program prints something else with jit switched off."""
    runs = seen.runs(claim.site)
    if not runs:
        return undecided(seen.not_reached(claim.site))
    if eager.raised is not None and seen.raised is None:
        return confirmed(f"with jit switched off the program fails: {eager.raised_at}")
    if seen.raised is not None or eager.raised is not None:
        return undecided(f"the program stopped at {(seen if seen.raised else eager).raised_at}")
    differing = _difference(seen.printed, eager.printed)
    if differing:
        return confirmed(f"the program prints {differing[0]!r}, with jit switched off {differing[1]!r}")
    if not seen.printed.strip():
        return undecided("the program prints nothing that could be compared")
    return refuted("the program prints the same with jit switched off")


def same_printed(one: str, other: str) -> bool:
    """Whether two programs printed the same, up to the last digits of numbers."""
    return not _difference(one, other)


def _difference(one: str, other: str) -> tuple[str, str] | None:
    """The first lines that differ by more than rounding."""
    lines, others = one.splitlines(), other.splitlines()
    for left, right in zip(lines, others, strict=False):
        if not _same(left, right):
            return left.strip()[:60], right.strip()[:60]
    if len(lines) != len(others):
        return count(len(lines), "line"), count(len(others), "line")
    return None


def _same(left: str, right: str) -> bool:
    if left == right:
        return True
    if _NUMBER.sub("0", left).split() != _NUMBER.sub("0", right).split():
        return False
    numbers = zip(_NUMBER.findall(left), _NUMBER.findall(right), strict=False)
    return all(math.isclose(float(a), float(b), rel_tol=_CLOSE, abs_tol=1e-6) or a == b for a, b in numbers)
