"""JAX313: attention is written out, so the scores of every query against every key are stored."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Fix, Related
from jaxlint.flow.facts import Attention
from jaxlint.rule import Confidence, Rule

if TYPE_CHECKING:
    import libcst as cst

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
            fix=_fused(fact, ctx),
        )


def _fused(fact: Attention, ctx: Context) -> Fix | None:
    """The call to compare with. It takes (batch, length, heads, size) and scales the scores by itself."""
    product, output = ctx.node(fact.scores), ctx.node(fact.output)
    scores, weighted = _operands(product, ctx), _operands(output, ctx)
    if output is None or product is None or scores is None or weighted is None:
        return None
    if _function_around(product, ctx) is not _function_around(output, ctx):
        return None  # the names of one mean nothing in the other
    fused = ctx.spell("jax.nn.dot_product_attention") or "jax.nn.dot_product_attention"
    values = weighted[1]
    text = f'{fused}({scores[0]}, {scores[1]}, {values}, implementation="cudnn")'
    return ctx.suggest("Compare with the fused form", ctx.replace(output, text))


def _function_around(node: cst.CSTNode, ctx: Context) -> cst.CSTNode | None:
    import libcst as cst

    return next((p for p in ctx.parents(node) if isinstance(p, (cst.FunctionDef, cst.Lambda))), None)


def _operands(product: cst.CSTNode | None, ctx: Context) -> tuple[str, str] | None:
    """What a product is of, transpositions left out."""
    import libcst as cst

    if isinstance(product, cst.BinaryOperation):
        found = [product.left, product.right]
    elif isinstance(product, cst.Call):
        found = [
            a.value for a in product.args if a.keyword is None and not isinstance(a.value, cst.SimpleString)
        ]
    else:
        return None
    if len(found) != 2:
        return None
    one, other = (
        re.sub(r"\.(m?T|swapaxes\(.*\)|transpose\(.*\))$", "", ctx.focus.code(node)) for node in found
    )
    return one, other
