"""What stays in memory from step to step: outputs that are kept, state that is there twice, other arrays."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jaxlint.capture.case import Case
from jaxlint.capture.claim import Basis, Claim, Remedy
from jaxlint.capture.growth import STEADY, Growth
from jaxlint.capture.runtime import BEFORE, Holding
from jaxlint.capture.sizes import share, shown

_LEAST = 1 << 20  # bytes: less is no state
_HOLDER = re.compile(r"\b(append|extend|insert|setdefault|__setitem__|setitem|add|put|update)\b")


def kept_outputs(case: Case) -> Iterator[Claim]:
    """A leak across steps."""
    found = case.growth
    if found is None:
        return
    outputs = case.plan.totals.outputs
    ratio = found.step / outputs if outputs else 0.0
    whole = abs(ratio - 1) <= STEADY
    compared = f", = {ratio:.2f}x the outputs that take no donated buffer" if outputs else ""
    kept = sum(h.size for h in case.subject.holdings if h.module == case.subject.executions[-1].module)
    by_outputs = whole or kept > 0.5 * (found.last - found.first)
    yield Claim(
        "grows",
        Basis.MEASURED,
        f"bytes in use at the start grow by {shown(found.step)} per execution{compared}"
        f" ({shown(found.first)} to {shown(found.last)} in {len(case.subject.executions)})",
        cause="the program keeps each step's outputs alive"
        if by_outputs
        else "something new stays with each step",
        remedies=(
            Remedy(
                "drop the reference, reduce inside the step (a norm, not the tree), or jax.device_get it",
                found.last - found.first,
                "none; a larger pool only delays the end",
                case.covers(found.last - found.first),
            ),
        ),
        rules=("JAX308",) if by_outputs else (),
        function=case.function,
    )
    yield from _holder(case, by_outputs)
    yield from _end(case, found)


def _holder(case: Case, by_outputs: bool) -> Iterator[Claim]:
    holders = [name for name, _ in case.subject.between if name.startswith("$") and _HOLDER.search(name)]
    if holders and by_outputs:
        yield Claim(
            "holder",
            Basis.INFERRED,
            f"what holds them is called between the steps: {', '.join(holders[:3])}",
            cause="`$<unknown> append` is list.append",
            rules=("JAX308",),
            function=case.function,
        )


def _end(case: Case, found: Growth) -> Iterator[Claim]:
    if case.capacity is None or case.subject.need is None or case.subject.failed:
        return
    left = (case.capacity - case.subject.need) // found.step
    if left >= 0:
        yield Claim(
            "end-in-sight",
            Basis.INFERRED,
            f"at this rate the pool is full after {left + 1} more executions",
            cause="linear growth, extrapolated",
            function=case.function,
        )


def donation(case: Case) -> Iterator[Claim]:
    """State that is in memory twice, old and new."""
    updates = case.updates
    saving = sum(update.size for update in updates)
    totals = case.plan.totals
    if saving < _LEAST or saving < 0.01 * totals.total:
        return
    donated = f"only {shown(totals.donated)} of {shown(totals.parameters)} parameters is donated"
    names = ", ".join(dict.fromkeys(_argument(update.name) for update in updates[:40]))
    yield Claim(
        "no-donation",
        Basis.INFERRED,
        f"{donated if totals.donated else 'no parameter is donated'}: {len(updates)} of the outputs"
        f" {'is a new version of a parameter' if len(updates) == 1 else 'are new versions of parameters'},"
        f" and donate_argnums can save up to {shown(saving)}",
        cause="old and new parameters and optimiser state are in memory at once",
        remedies=(
            case.remedy(
                f"donate_argnums or donate_argnames for {names}", saving, "the old value cannot be read after"
            ),
        ),
        rules=("JAX301",),
        function=case.function,
    )


def _argument(name: str) -> str:
    """`state[0]['w']` is a part of the argument `state`."""
    return re.split(r"[\[.]", name, maxsplit=1)[0]


def other_arrays(case: Case) -> Iterator[Claim]:
    """What is in the pool beside the step's own."""
    in_use, capacity = case.subject.in_use, case.capacity
    if in_use is None or capacity is None or case.growth is not None:
        return
    if not case.near and not (case.crowded and (case.excess or 0) > 0):
        return
    others = in_use - case.plan.totals.parameters
    if others < 0.1 * capacity:
        return
    largest = max(_without_parameters(case), key=lambda holding: holding.size, default=None)
    named = (
        f"; the largest part, {shown(largest.size)}, came from {largest.what}" if largest is not None else ""
    )
    late = largest is not None and largest.what == BEFORE
    yield Claim(
        "other-arrays",
        Basis.MEASURED,
        f"other live arrays take the room: {shown(others)} in use ({share(others, capacity)} of the pool) is none"
        f" of the step's parameters{named}",
        cause="a data set or an evaluation copy on the device, prefetched batches, outputs of other functions",
        remedies=(
            case.remedy("keep it on the host and stream it, or free it before the step", others, "transfers"),
            case.remedy("a smaller type for it (uint8, bfloat16)", others // 2, "precision"),
            *(
                [case.remedy("profile from the start, or save memory.prof, to name it", None, "another run")]
                * late
            ),
        ),
        rules=("JAX314",),
        function=case.function,
    )


def _without_parameters(case: Case) -> list[Holding]:
    """What lives, less what the parameters account for: they came with the last step, or before the capture."""
    left = case.plan.totals.parameters
    rest: list[Holding] = []
    module = case.subject.last.module if case.subject.last is not None else ""
    for holding in sorted(case.subject.holdings, key=lambda h: (h.module != module, h.what != BEFORE)):
        taken = min(left, holding.size) if holding.module == module or holding.what == BEFORE else 0
        left -= taken
        if holding.size > taken:
            rest.append(holding._replace(size=holding.size - taken))
    return rest
