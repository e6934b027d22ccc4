"""JAX317: one buffer is given to a call twice, once at least to be donated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Fix, Related
from jaxlint.flow.facts import DoubleDonation
from jaxlint.rule import Confidence, Rule

from ..retrace import _wording as wording

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context


class DoublyDonated(Rule):
    """Two arguments of a donating call share an array."""

    def suspect(self, fact: DoubleDonation) -> bool:
        return fact.proof.level == "eager"

    def check(self, fact: DoubleDonation, ctx: Context) -> Iterator[Finding]:
        yield self.finding(
            fact,
            f"`{fact.name}` is a second name for an array that `{wording.function_name(fact.boundary)}` is given "
            "to keep: the call raises `INVALID_ARGUMENT`, as one buffer cannot be donated and used again. Copy it "
            "here (`jnp.copy`, for a tree `jax.tree.map(jnp.copy, …)`).",
            confidence=Confidence.HIGH if fact.proof.eager else Confidence.MEDIUM,
            related=[
                Related(fact.other, "the same array"),
                *([Related(fact.made, "made once here")] if fact.made is not None else []),
                Related(fact.call, "both reach this call"),
                Related(fact.boundary.place, "which donates"),
            ],
            fix=_copied(ctx.node(fact.place), ctx),
        )


def _copied(node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """The second name for a copy, of whatever tree it is."""
    import libcst as cst

    if not isinstance(node, cst.BaseExpression):
        return None
    tree, copy = (ctx.spell(name) or name for name in ("jax.tree.map", "jax.numpy.copy"))
    text = f"{tree}({copy}, {ctx.focus.code(node)})"
    return ctx.suggest("Copy the second one", ctx.replace(node, text))
