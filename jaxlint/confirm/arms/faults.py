"""Claims that code raises: a tracer that got out, a deleted buffer, one buffer donated twice.

Those about a line that cannot be traced are judged in `trace_faults`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from jaxlint.confirm.claim import Claim
from jaxlint.confirm.judgement import Judgement, confirmed, refuted, undecided
from jaxlint.confirm.observed import Observed
from jaxlint.confirm.wording import times

# What may be raised where the claim is true: names of types (their bases count), or a part of the message.
_CONCRETE = ("ConcretizationTypeError", "TracerBoolConversionError", "TracerIntegerConversionError")
_ARRAY = ("TracerArrayConversionError", *_CONCRETE)
_SHAPE = ("NonConcreteBooleanIndexError", "IndexError", "TypeError", "ValueError", *_ARRAY)
EXPECTED: Mapping[str, tuple[str, ...]] = {
    "JAX113": ("RuntimeError", "ValueError", "TypeError", "AssertionError"),
    "JAX204": ("UnexpectedTracerError",),
    "JAX205": (*_ARRAY, "TypeError"),
    "JAX206": (*_ARRAY, "TypeError", "ValueError", "NotImplementedError", "IndexError"),
    "JAX207": _SHAPE,
    "JAX208": _SHAPE,
    "JAX209": ("UnexpectedTracerError", "TraceContextError"),
    "JAX302": ("RuntimeError", "ValueError"),
    "JAX317": ("RuntimeError", "ValueError"),
}
_SAID: Mapping[str, tuple[str, ...]] = {
    "JAX113": ("trace", "max_traces", "jit"),
    "JAX302": ("deleted", "donated"),
    "JAX317": ("donate", "INVALID_ARGUMENT"),
}


def judge(claim: Claim, seen: Observed) -> Judgement:
    """Confirmed where one of the claim's statements raises what was said; refuted where it runs through."""
    code = claim.finding.code
    for site, run in seen.every_run(claim):
        if expected(code, run.get("raised", ()), str(run.get("message", ""))):
            return confirmed(f"line {site.first} raises {run['raised'][0]}: {short(run['message'])}")
    raised = seen.raised
    if raised is not None and expected(code, raised["kinds"], str(raised["message"])):
        if seen.raised_within(claim.sites):
            return confirmed(f"the program stops at {seen.raised_at}")
        # What is found out when the code is called lies elsewhere than the claim.
        if code == "JAX113" or (code == "JAX209" and _leaked_from(claim, str(raised["message"]))):
            return confirmed(f"the program stops at {seen.raised_at}")
    runs = seen.runs(claim.site)
    if not runs:
        return undecided(seen.not_reached(claim.site))
    if raised is not None:
        return undecided(f"the program stopped at {seen.raised_at}")
    if code in ("JAX204", "JAX209"):
        return undecided("no tracer that had got out was used again in this run")
    through = [run for run in runs if "raised" not in run]
    return refuted(f"line {claim.site.first} ran {times(len(through))} without an error")


def expected(code: str, kinds: tuple[str, ...] | list[str], message: str) -> bool:
    """Whether an exception is what a claim of this code foretells."""
    if not any(kind in EXPECTED[code] for kind in kinds):
        return False
    said = _SAID.get(code)
    return said is None or any(word in message for word in said)


def _leaked_from(claim: Claim, message: str) -> bool:
    """Whether jax says that the tracer which got out was made under one of the claim's statements."""
    lines = [
        f"{os.path.basename(site.file)}:{n}" for site in claim.sites for n in range(site.first, site.last + 1)
    ]
    function = claim.finding.symbol.rpartition(".")[2]
    if function and f"({function})" in message:
        return True
    return any(re.search(rf"{re.escape(line)}\b", message) for line in lines)


def short(message: object) -> str:
    """The beginning of a message, on one line."""
    return " ".join(str(message).split())[:120]
