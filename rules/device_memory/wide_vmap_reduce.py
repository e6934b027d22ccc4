"""JAX304: all variants of one thing are computed side by side, only to be reduced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Fix, Related
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
            fix=_summed(fact, ctx),
        )


def _summed(fact: WideMap, ctx: Context) -> Fix | None:
    """`jnp.mean(vmap(f)(xs), axis=0)` with a running total in the carry of a scan."""
    import libcst as cst

    node = ctx.node(fact.place)
    use = ctx.node(fact.uses[0]) if len(fact.uses) == 1 else None
    reducer = fact.reducer.rpartition(".")[2]
    if (
        reducer not in ("mean", "sum")
        or not isinstance(node, cst.Call)
        or not isinstance(node.func, cst.Call)
    ):
        return None
    if len(node.args) != 1 or len(node.func.args) != 1 or not isinstance(use, cst.Call):
        return None
    function, over = (ctx.focus.code(call.args[0].value) for call in (node.func, node))
    called = f"({function})" if isinstance(node.func.args[0].value, cst.Lambda) else function
    scan = ctx.spell("jax.lax.scan") or "jax.lax.scan"
    zeros = ctx.spell("jax.numpy.zeros_like") or "jnp.zeros_like"
    start = f"{zeros}({called}({over}[0]))"
    total = f"{scan}(lambda total, one: (total + {called}(one), None), {start}, {over})[0]"
    text = f"{total} / len({over})" if reducer == "mean" else total
    return ctx.suggest("Add them up one by one", ctx.replace(use, text))
