"""JAX307, 308, 314, 401-404: what is held more of each time that a statement has run.

Device arrays, executables and the memory of Python and numpy are counted around each run of the claim's
statements, after garbage was collected, so that only what somebody holds can grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from jaxlint.confirm.claim import Claim, Site
from jaxlint.confirm.judgement import Judgement, confirmed, refuted, undecided
from jaxlint.confirm.observed import Observed, Run
from jaxlint.confirm.wording import count, size, times

_LEAST_RUNS = 3
ENOUGH = 5  # calls of a function of a module, which runs its lines once a time perhaps
_WARM = 1  # runs after which sizes are compared: the first ones compile and fill what is filled once
_STEADY = 0.7  # the share of runs that must each add something
_LINES = 8  # below a header, among them the first statement of the body even after a long docstring
_ON_DEVICE = (("device_bytes", "of arrays on the device"),)
_ANYWHERE = (*_ON_DEVICE, ("host_bytes", "of host memory"))
# Bytes of host memory a time. What watching keeps is taken away (`child/state.py`); jax itself keeps up to 700
# bytes for each eager operation at first, and gives them back after some hundreds of them.
_LEAST_HOST = 1024
_NO_HOST = 64


def judge(claim: Claim, seen: Observed) -> Judgement:
    """Confirmed where device arrays, executables or host memory grow from run to run."""
    best: tuple[float, str] | None = None
    little = 0.0
    longest = 0
    # What Python keeps beside them says nothing of device arrays.
    measures = _ON_DEVICE if claim.finding.code == "JAX308" else _ANYWHERE
    for site in claim.sites:
        runs = [run for run in seen.runs(site) if "before" in run and not run["tracing"]]
        longest = max(longest, len(runs))
        if len(runs) < _LEAST_RUNS:
            continue
        for what, words in measures:
            grown = _growth(runs, what, _LEAST_HOST if what == "host_bytes" else 1)
            if grown and (best is None or grown[0] > best[0]):
                each, total, number = grown
                best = each, f"{size(total)} more {words} after {times(number)}: {size(int(each))} each time"
            elif what == "host_bytes" and (noise := _growth(runs, what, _NO_HOST)):
                little = max(little, noise[0])
        kept = _growth(runs, "executables", 1)
        if kept and best is None:
            best = kept[0], f"{count(kept[1], 'more executable')} alive after {times(kept[2])}"
    if best is not None:
        return confirmed(best[1])
    if longest == 0:
        return undecided(seen.not_reached(claim.site))
    if longest < _LEAST_RUNS:
        return undecided(f"the lines ran {times(longest)} only: growth takes {_LEAST_RUNS}")
    if little:
        held = f"{size(int(little))} more of host memory each time"
        return undecided(f"{held}, which jax itself may keep for a while: give it larger arrays")
    return refuted(f"nothing grew in {longest} runs of the lines")


def bodies(claim: Claim, seen: Observed) -> list[Site]:
    """The first lines below a claim's header: a decorator runs once, the function as often as it is called."""
    lines = range(claim.site.last + 1, claim.site.last + 1 + _LINES)
    return [Site(claim.site.file, line, line, "runs") for line in lines]


def _growth(runs: Sequence[Run], what: str, least: int) -> tuple[float, int, int] | None:
    """How much a figure grew: each time on average, in all, in how many runs. None where it does not grow."""
    values = [int(run["before"][what]) for run in runs] + [
        int(run["after"][what]) for run in runs[-1:] if "after" in run
    ]
    values = values[_WARM:]
    steps = [later - earlier for earlier, later in pairwise(values)]
    total = values[-1] - values[0] if values else 0
    if not steps or total / len(steps) < least:
        return None
    if sum(step > 0 for step in steps) < _STEADY * len(steps):
        return None
    return total / len(steps), total, len(steps)


def held_at(claim: Claim, seen: Observed) -> Judgement:
    """JAX307: what lies on the device already when a checkpoint is read into it."""
    runs = [run for run in seen.runs(claim.site) if "before" in run]
    if not runs:
        return undecided(seen.not_reached(claim.site))
    held = max(int(run["before"]["device_bytes"]) for run in runs)
    if held:
        return confirmed(f"{size(held)} of arrays lie on the device when the checkpoint is read into it")
    return refuted("nothing lies on the device when the checkpoint is read")


def put_at(claim: Claim, seen: Observed) -> Judgement:
    """JAX314: what a statement puts on the device."""
    runs = [run for run in seen.runs(claim.site) if "after" in run]
    if not runs:
        return undecided(seen.not_reached(claim.site))
    put = max(int(run["after"]["device_bytes"]) - int(run["before"]["device_bytes"]) for run in runs)
    if put > 0:
        return confirmed(f"{size(put)} lie on the device from here on")
    return refuted("the statement leaves nothing on the device")
