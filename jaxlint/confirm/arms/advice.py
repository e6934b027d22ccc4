"""Advice that is no edit of the source, tried where the finding stands (`child/remedy.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jaxlint.confirm.arms.memory import Threshold, arm, too_little
from jaxlint.confirm.judgement import Judgement, confirmed
from jaxlint.confirm.verdict import AS_WRITTEN
from jaxlint.confirm.wording import size, totals

REDUCED, CHUNKED, REMAT = "reduced chunks", "chunked map", "remat"

# What a rule advises, and after that what looks like it.
REMEDIES: Mapping[str, tuple[str, ...]] = {
    "JAX304": (REDUCED, CHUNKED),
    "JAX305": (CHUNKED,),
    "JAX310": (REMAT,),
}

Figures = Mapping[str, Any]


def judge(
    code: str, written: Figures, tried: Mapping[str, Figures | str], threshold: Threshold
) -> Judgement | str:
    """Whether what a rule advises saves memory, or why it could not be tried."""
    best, *others = REMEDIES[code]
    figures = tried[best]
    if isinstance(figures, str):
        return f"{best} could not be tried: {figures}"
    arms = (arm(AS_WRITTEN, written), arm(_name(best, figures), figures))
    before, after = arms[0].total_bytes or 0, arms[1].total_bytes or 0
    notes = [note for other in others if (note := _beside(other, tried[other]))]
    reason = "; ".join([totals(arms), *notes])
    if threshold.passed(before - after, before):
        return confirmed(reason, *arms)
    return too_little("the advice", before - after, threshold, reason, *arms)


def _beside(remedy: str, figures: Figures | str) -> str:
    """What becomes of something that looks like the advice, and keeps all results where the advice keeps none."""
    if isinstance(figures, str):
        return ""
    taken = arm(remedy, figures).total_bytes or 0
    stack = max((int(buffer["bytes"]) for buffer in figures["peak"] if buffer["kind"] == "temp"), default=0)
    results = int(figures["results_bytes"])
    if results and stack >= results:
        return f"refuted {_name(remedy, figures)} alone: {size(taken)}, {size(results)} of it for all the results"
    return f"{size(taken)} {_name(remedy, figures)}"


def _name(remedy: str, figures: Figures) -> str:
    return {
        REDUCED: f"reduced in chunks of {figures['chunk']}",
        CHUNKED: f"with lax.map(batch_size={figures['chunk']})",
        REMAT: "with jax.checkpoint around the body",
    }[remedy]
