"""JAX307, 308, 314, 401-404: what is held more of each time that a statement has run.

Device arrays, executables and the memory of Python and numpy are counted around each run of the claim's
statements, after garbage was collected, so that only what somebody holds can grow.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from jaxlint.confirm.arms.memory import Threshold
from jaxlint.confirm.claim import Claim, Site
from jaxlint.confirm.judgement import Judgement, confirmed, refuted, undecided
from jaxlint.confirm.observed import Observed, Run
from jaxlint.confirm.wording import count, size, times

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While, *_FUNCTIONS)
_LEAST_RUNS = 3
ENOUGH = 5  # calls of a function of a module, which runs its lines once a time perhaps
_WARM = 1  # runs after which sizes are compared: the first ones compile and fill what is filled once
_STEADY = 0.7  # the share of runs that must each add something
_STATEMENTS = 3  # of a body, of which a docstring never runs
_ON_DEVICE = (("device_bytes", "of arrays on the device"),)
_ANYWHERE = (*_ON_DEVICE, ("host_bytes", "of host memory"))
_LEAST_DEVICE = 1024  # bytes a time: a million rounds then make a gigabyte
# Bytes of host memory a time. What watching keeps is taken away (`child/state.py`); jax itself keeps up to 700
# bytes for each eager operation at first, and gives them back after some hundreds of them.
_LEAST_HOST = 1024
_NO_HOST = 64


def judge(claim: Claim, seen: Observed) -> Judgement:
    """Confirmed where device arrays, executables or host memory grow from run to run."""
    judgement, _ = at_site(claim, seen)
    return judgement


def at_site(claim: Claim, seen: Observed) -> tuple[Judgement, Site | None]:
    """The same, with the statement around which most grew."""
    best: tuple[float, str, Site] | None = None
    little, less = 0.0, ""
    longest = 0
    # What Python keeps beside them says nothing of device arrays.
    measures = _ON_DEVICE if claim.finding.code == "JAX308" else _ANYWHERE
    for site in claim.sites:
        runs = [run for run in seen.runs(site) if "before" in run and not run["tracing"]]
        longest = max(longest, len(runs))
        if len(runs) < _LEAST_RUNS:
            continue
        for what, words in measures:
            on_host = what == "host_bytes"
            grown = _growth(runs, what, _LEAST_HOST if on_host else _LEAST_DEVICE)
            if grown and (best is None or grown[0] > best[0]):
                each, total, number = grown
                figures = f"{size(total)} more {words} after {times(number)}: {size(int(each))} each time"
                best = each, figures, site
            elif not on_host and (small := _growth(runs, what, 1)):
                less = f"{size(int(small[0]))} more {words} each time: what counts is {size(_LEAST_DEVICE)}"
            elif on_host and (noise := _growth(runs, what, _NO_HOST)):
                little = max(little, noise[0])
        kept = _growth(runs, "executables", 1)
        if kept and best is None:
            best = kept[0], f"{count(kept[1], 'more executable')} alive after {times(kept[2])}", site
    if best is not None:
        return confirmed(best[1]), best[2]
    if longest == 0:
        return undecided(seen.not_reached(claim.site)), None
    if longest < _LEAST_RUNS:
        return undecided(f"the lines ran {times(longest)} only: growth takes {_LEAST_RUNS}"), None
    if less:
        return undecided(less), None
    if little:
        held = f"{size(int(little))} more of host memory each time"
        return undecided(f"{held}, which jax itself may keep for a while: give it larger arrays"), None
    return refuted(f"nothing grew in {longest} runs of the lines"), None


def bodies(claim: Claim, seen: Observed) -> list[Site]:
    """The first statements of a function whose header the claim is about: that runs once, they with each call."""
    for node in _functions(claim.site.file):
        first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
        if first <= claim.site.first < node.body[0].lineno:
            return [
                Site(claim.site.file, item.lineno, item.lineno, "runs") for item in node.body[:_STATEMENTS]
            ]
    return []


def around(site: Site) -> list[Site]:
    """Where the program passes before it comes to a statement or leaves it out: headers, the first statement of its
    function, and lines that call that one."""
    lines: set[int] = set()
    for node in ast.walk(_tree(site.file)):
        if isinstance(node, _BLOCKS) and node.lineno < site.first <= (node.end_lineno or node.lineno):
            lines.add(node.body[0].lineno if isinstance(node, _FUNCTIONS) else node.lineno)
    own = [node for node in _functions(site.file) if node.lineno < site.first <= (node.end_lineno or 0)]
    names = {node.name for node in own[-1:]}
    for node in ast.walk(_tree(site.file)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            lines.add(node.lineno)
    return [Site(site.file, line, line, "passes") for line in sorted(lines - {site.first})]


def stopped(site: Site, others: Sequence[Site], seen: Observed) -> str:
    """What shows that a statement no longer ran, and nothing grew any more, "" if it ran to the end."""
    last = max((run["at"] for run in seen.runs(site)), default=0)
    for other in others:
        runs = [run for run in seen.runs(other) if not run["tracing"]]
        later = sum(run["at"] > last for run in runs)
        if later >= max(_LEAST_RUNS, len(runs) - later):
            return (
                f"line {site.first} did not run in the last {later} of {len(runs)} runs of line {other.first}"
            )
    return ""


@lru_cache(maxsize=16)
def _tree(file: str) -> ast.Module:
    try:
        with open(file, "rb") as stream:
            return ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return ast.Module([], [])


def _functions(file: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions of a file, inner ones after those around them."""
    found = [node for node in ast.walk(_tree(file)) if isinstance(node, _FUNCTIONS)]
    return sorted(found, key=lambda node: node.lineno)


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
    late = steps[-max(1, len(steps) // 4) :]  # what is filled once grows at first only
    if 2 * sum(step > 0 for step in late) < len(late):
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


def put_at(claim: Claim, seen: Observed, threshold: Threshold) -> Judgement:
    """JAX314, and JAX603 outside jit: what a statement puts on the device."""
    runs = [run for run in seen.runs(claim.site) if "after" in run]
    if not runs:
        return undecided(seen.not_reached(claim.site))
    bytes_of = [(int(run["before"]["device_bytes"]), int(run["after"]["device_bytes"])) for run in runs]
    put, held = max((after - before, after) for before, after in bytes_of)
    if put <= 0:
        return refuted("the statement leaves nothing on the device")
    figures = f"{size(put)} lie on the device from here on"
    return (
        confirmed(figures)
        if threshold.passed(put, held)
        else refuted(f"{figures}: what counts is {threshold}")
    )
