"""JAX3xx: what an executable takes as written, and as fixed or how much of it the claim's own lines make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jaxlint.confirm.claim import Claim
from jaxlint.confirm.judgement import Judgement, confirmed, refuted, undecided
from jaxlint.confirm.observed import Observed
from jaxlint.confirm.verdict import AS_FIXED, AS_WRITTEN, Arm
from jaxlint.confirm.wording import size, times, totals

_MANY = 16  # passes of a loop's body within one trace, as the rule has it
_SHOWN = 3  # buffers of the peak in a report


class Threshold(NamedTuple):
    """From when on memory counts: bytes, and the share of what the code takes as written.

    With `noise`, smaller differences may be due to the choice of other kernels, and decide nothing.
    """

    least: int
    share: float
    noise: bool = False

    def passed(self, saved: int, of: int) -> bool:
        """Whether a saving is large enough."""
        return saved >= self.least and saved >= self.share * of

    def __str__(self) -> str:
        return f"{size(self.least)} and {self.share:.0%}"


def trace(claim: Claim, seen: Observed) -> int | None:
    """The trace that the claim is about: the largest around its statement, else of a boundary that is made there.

    Of traces within each other it is the outermost, which makes the executable. None where none is known.
    """
    sizes = {kept["id"]: int(kept["bytes"]) for about in seen.boundaries for kept in about["kept"]}
    for site in claim.sites:
        around = [int(run["within"][0]) for run in seen.runs(site) if run.get("within")]
        known = [number for number in around if number in sizes]
        if known:
            return max(known, key=lambda number: sizes[number])
    for site in claim.sites:
        for about in seen.boundaries:
            places = [about["place"], *about["wrapped"]]
            if about["kept"] and any(site.holds(str(file), int(line)) for file, line, _ in places):
                return max((int(kept["id"]) for kept in about["kept"]), key=lambda number: sizes[number])
    return None


def arm(name: str, figures: Mapping[str, Any]) -> Arm:
    """The arm of what `child/memory.py` measured."""
    return Arm(
        name,
        argument_bytes=figures["argument_bytes"],
        output_bytes=figures["output_bytes"],
        alias_bytes=figures["alias_bytes"],
        temp_bytes=figures["temp_bytes"],
        constant_bytes=figures["constant_bytes"],
        seconds=figures["seconds"],
        peak=_shown(figures["peak"]) if name == AS_WRITTEN else (),
    )


def _shown(buffers: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The largest buffers; those that read the same once, with their number."""
    alike = Counter(map(_buffer, buffers))
    return tuple(f"{number} x {text}" if number > 1 else text for text, number in alike.items())[:_SHOWN]


def _buffer(buffer: Mapping[str, Any]) -> str:
    place = buffer["place"]
    where = f", made at {_line(place)}" if place else ""
    stacked = f" of values made at {_line(buffer['stacks'])}" if buffer["stacks"] else ""
    return f"{size(buffer['bytes'])} {buffer['shape']} ({buffer['kind']}){where}{stacked}"


def _line(place: Sequence[Any]) -> str:
    return f"{place[0].rpartition('/')[2]}:{place[1]}"


def against_fix(written: Mapping[str, Any], fixed: Mapping[str, Any], threshold: Threshold) -> Judgement:
    """What the fix saves of argument + output - alias + temp."""
    arms = (arm(AS_WRITTEN, written), arm(AS_FIXED, fixed))
    before, after = arms[0].total_bytes or 0, arms[1].total_bytes or 0
    figures = totals(arms)
    if threshold.passed(before - after, before):
        return confirmed(figures, *arms)
    return too_little("the fix", before - after, threshold, figures, *arms)


def too_little(what: str, saved: int, threshold: Threshold, figures: str, *arms: Arm) -> Judgement:
    """The judgement on a saving that does not pass the threshold."""
    if abs(saved) < threshold.least and threshold.noise:
        noise = (
            f"differences below {size(threshold.least)} decide nothing without the GPU, take larger arguments"
        )
        return undecided(f"{noise}: {figures}", *arms)
    if saved <= 0:
        return refuted(f"{what} saves nothing: {figures}", *arms)
    return refuted(f"{what} saves {size(saved)}, what counts is {threshold}: {figures}", *arms)


def by_itself(claim: Claim, seen: Observed, written: Mapping[str, Any], threshold: Threshold) -> Judgement:
    """Without a fix to compare with: what of the executable is due to the claim."""
    code = claim.finding.code
    one = arm(AS_WRITTEN, written)
    if code == "JAX311":
        return _share("captured by the trace as constants", written["constant_bytes"], one, threshold)
    if code == "JAX309":
        return _unrolled(claim, seen, one)
    if code == "JAX316":
        return _useless(written, one)
    if code == "JAX301":
        return _share(
            "of outputs could take the place of arguments", written["donatable_bytes"], one, threshold
        )
    made = [buffer for buffer in written["peak"] if _is_made_by(buffer, claim)]
    if made:
        total = sum(int(buffer["bytes"]) for buffer in made)
        return _share(f"live at the peak are made here ({made[0]['shape']})", total, one, threshold)
    if not written["peak"]:
        return undecided(
            f"the buffers of this executable are too small to be told apart ({totals([one])}): give it the sizes "
            "that it has in earnest",
            one,
        )
    return refuted(f"what is live at the peak is made elsewhere: {_buffer(written['peak'][0])}", one)


def _share(what: str, number: int | None, one: Arm, threshold: Threshold) -> Judgement:
    if number is None:
        return undecided("this version of jax does not tell", one)
    total = (one.total_bytes or 0) + (one.constant_bytes or 0)
    figures = f"{size(number)} {what}, of {size(total)}"
    if threshold.passed(number, total):
        return confirmed(figures, one)
    if threshold.noise and number >= threshold.share * total:
        return undecided(f"{figures}: below {size(threshold.least)} nothing is decided without the GPU", one)
    return refuted(f"{figures}: what counts is {threshold}", one)


def _unrolled(claim: Claim, seen: Observed, one: Arm) -> Judgement:
    """JAX309: how often the loop's header or body went into one executable."""
    passes = max((_traced_runs(claim, seen)), default=0)
    if passes >= _MANY:
        return confirmed(
            f"its lines were traced {times(passes)} into one executable, which took {one.seconds:.2f} s to compile",
            one,
        )
    return undecided(f"its lines were traced {times(passes)} in this run", one)


def _traced_runs(claim: Claim, seen: Observed) -> Sequence[int]:
    return [sum(bool(run["tracing"]) for run in seen.runs(site)) for site in claim.sites]


def _useless(written: Mapping[str, Any], one: Arm) -> Judgement:
    """JAX316: a donation that the executable makes nothing of."""
    if not written["donated"]:
        return undecided("no argument of the traced boundary is donated", one)
    if written["alias_bytes"] == 0:
        return confirmed("the executable puts none of its outputs into the donated arguments", one)
    return undecided(
        f"{size(written['alias_bytes'])} of outputs lie in donated arguments, others may not", one
    )


def _is_made_by(buffer: Mapping[str, Any], claim: Claim) -> bool:
    places = [place for place in (buffer["place"], buffer["stacks"], *buffer.get("calls", ())) if place]
    return any(site.holds(str(file), int(line)) for file, line, _ in places for site in claim.sites)
