"""JAX304: all variants of one thing are computed side by side, only to be reduced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Related
from jaxlint.flow.facts import Guard, ModuleRole, WideMap
from jaxlint.rule import Confidence, Rule, Severity

if TYPE_CHECKING:
    from jaxlint.context import Context

_FEW = 8  # variants; so many fit side by side
_VARIANTS = {
    "keys": "keys",
    "draws": "random perturbations",
    "indices": "indices",
    "directions": "directions",
    "copies": "copies of one input",
    "parameter": "values",
}


class WideVmapReduce(Rule):
    """A vmap holds every variant's intermediates and results at once, and a reduction follows."""

    def suspect(self, fact: WideMap) -> bool:
        return fact.number is None or fact.number >= _FEW

    def check(self, fact: WideMap, ctx: Context) -> Iterator[Finding]:
        mapped = f"`{fact.function.rpartition('.')[2]}`" if fact.function else "this function"
        count = f"all {fact.number}" if fact.number is not None else "all"
        over = f"{count} {_VARIANTS[fact.variants]}"
        if not fact.reducer:
            message = (
                f"The vmap over {over} makes a copy of the captured array for each, to change one entry. Loop over "
                "them with `lax.map(batch_size=)`, or write the change as a `jnp.where` inside the computation."
            )
        else:
            message = (
                f"{mapped[0].upper() + mapped[1:]} runs for {over} at once, and only `{fact.reducer}` over them is "
                "used. Add them up in the carry of a `lax.scan`, a chunk at a time if one is too slow; "
                "`lax.map(batch_size=)` alone would still stack every result."
            )
        heavy = fact.calls_model or fact.makes_arrays or fact.copies
        yield self.finding(
            fact,
            message,
            severity=Severity.WARNING if heavy and ctx.role is not ModuleRole.TEST else None,
            confidence=Confidence.MEDIUM if fact.proof.guard is Guard.NONE else Confidence.LOW,
            related=[Related(use, "all that is used of the results") for use in fact.uses],
        )
