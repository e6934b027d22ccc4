"""JAX309: a Python loop in traced code is compiled round by round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Related
from jaxlint.flow.facts import Guard, ModuleRole, Unrolled
from jaxlint.rule import Confidence, Rule, Severity

from ._rolled import rolled

if TYPE_CHECKING:
    from jaxlint.context import Context


class UnrolledLoop(Rule):
    """The compiled program holds the body of the loop once for every round."""

    def suspect(self, fact: Unrolled) -> bool:
        return fact.proof.level == "jit"

    def check(self, fact: Unrolled, ctx: Context) -> Iterator[Finding]:
        over = ctx.text(fact.place)
        loop = f"The loop over `{over}`" if over and len(over) < 40 else "This loop"
        if fact.form == "while" and over:
            loop = f"`while {over}`"
        remedy = "Use `jax.vmap` or `jax.lax.map`" if fact.form == "comprehension" else _remedy(fact)
        certain = fact.bound == "constant" and fact.proof.guard is Guard.NONE
        yield self.finding(
            fact,
            f"{loop} is unrolled under jit: {_count(fact)} traced and compiled one after the other. {remedy}.",
            severity=Severity.INFO if ctx.role is ModuleRole.TEST else None,
            confidence=Confidence.HIGH if certain else Confidence.MEDIUM,
            related=[Related(fact.proof.why_traced, "traced here")] if fact.proof.why_traced else [],
            fix=rolled(ctx.node(fact.place), ctx) if fact.form == "for" else None,
        )


def _count(fact: Unrolled) -> str:
    if fact.rounds is None:
        return f"as many rounds as `{fact.name}` is long are"
    default = f" (the default of `{fact.name}`)" if fact.bound == "default" else ""
    return f"its {fact.rounds} rounds{default} are"


def _remedy(fact: Unrolled) -> str:
    return "Use `jax.lax.scan`" if fact.bound == "shape" else "Use `jax.lax.fori_loop` or `jax.lax.scan`"
