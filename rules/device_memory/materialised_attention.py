"""JAX313: attention is written out, so the scores of every query against every key are stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Related
from jaxlint.flow.facts import Attention
from jaxlint.rule import Confidence, Rule

if TYPE_CHECKING:
    from jaxlint.context import Context


class MaterialisedAttention(Rule):
    """softmax(q kᵀ) v, with the whole matrix of scores in memory."""

    def suspect(self, fact: Attention) -> bool:
        return True

    def check(self, fact: Attention, ctx: Context) -> Iterator[Finding]:
        yield self.finding(
            fact,
            "The scores of every query against every key are stored (batch by heads by length by length), for the "
            "gradient as well. Check whether a fused form saves that here, such as `jax.nn.dot_product_attention` "
            'with `implementation="cudnn"`, or work over blocks of keys.',
            confidence=Confidence.MEDIUM,
            related=[Related(fact.scores, "the scores"), Related(fact.output, "the weights meet the values")],
        )
