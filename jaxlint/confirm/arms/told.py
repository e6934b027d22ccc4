"""Claims that Python or jax confirms by a warning when the line runs."""

from __future__ import annotations

from collections.abc import Mapping

from jaxlint.confirm.claim import Claim
from jaxlint.confirm.judgement import Judgement, confirmed, refuted, undecided
from jaxlint.confirm.observed import Observed

_SAID: Mapping[str, str] = {
    "JAX316": "donated buffers were not usable",
    "JAX506": "os.fork() was called",
    "JAX602": "is not available, and will be truncated",
}


def judge(claim: Claim, seen: Observed) -> Judgement:
    """Confirmed where the warning came under one of the statements."""
    said = _SAID[claim.finding.code]
    for _, message, _, _, at in seen.warnings:
        if said in message and any(
            run["at"] < at <= run.get("until", at) for _, run in seen.every_run(claim)
        ):
            return confirmed(f"warning: {' '.join(message.split())[:160]}")
    if not any(seen.runs(site) for site in claim.sites):
        return undecided(seen.not_reached(claim.site))
    if claim.finding.code == "JAX602":
        return refuted(f"line {claim.site.first} ran and nothing was truncated")
    return undecided("the lines ran without the warning that would show it")
