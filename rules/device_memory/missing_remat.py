"""JAX310: a scan over blocks keeps every block's intermediates for the backward pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Fix, Related
from jaxlint.flow.facts import ModuleRole, Scan
from jaxlint.rule import Confidence, Rule

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_FEW = 4  # blocks


class MissingRemat(Rule):
    """Without a checkpoint, all that a block computes is stacked, once for every block."""

    def suspect(self, fact: Scan) -> bool:
        few = fact.length is not None and fact.length < _FEW
        return fact.of_blocks and fact.differentiated and not fact.checkpointed and not few

    def check(self, fact: Scan, ctx: Context) -> Iterator[Finding]:
        if ctx.role is ModuleRole.TEST:
            return
        api = f"`{ctx.spell(fact.api) or fact.api}`"
        lifted = fact.api.startswith("flax.linen.")
        maker = "flax.linen.remat" if lifted else "jax.checkpoint"
        remat = ctx.spell(maker) or maker
        yield self.finding(
            fact,
            f"Under the gradient {api} keeps what every block computes inside. With `{remat}` around the "
            f"{'block' if lifted else 'body'} it keeps the blocks' inputs and computes the rest again.",
            confidence=Confidence.MEDIUM,
            related=[Related(fact.body, "the block")] if fact.body is not None else [],
            fix=_checkpointed(ctx.node(fact.place), remat, ", prevent_cse=False" if lifted else "", ctx),
        )


def _checkpointed(node: cst.CSTNode | None, remat: str, options: str, ctx: Context) -> Fix | None:
    """The scan with a checkpoint around what it runs."""
    import libcst as cst

    if not isinstance(node, cst.Call) or not node.args or node.args[0].keyword is not None:
        return None
    body = node.args[0].value
    return ctx.suggest("Recompute the blocks", ctx.replace(body, f"{remat}({ctx.focus.code(body)}{options})"))
