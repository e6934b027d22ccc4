"""JAX305: chunks that are as large as the whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Fix
from jaxlint.flow.facts import Chunked, Guard, ModuleRole
from jaxlint.rule import Confidence, Rule, Severity

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context


class ChunkNotSmaller(Rule):
    """A `lax.map` whose one chunk holds everything is a vmap."""

    def suspect(self, fact: Chunked) -> bool:
        return fact.length is None or fact.length > 1

    def check(self, fact: Chunked, ctx: Context) -> Iterator[Finding]:
        api = f"`{ctx.spell('jax.lax.map') or 'lax.map'}`"
        if fact.why == "number":
            reason = f"`batch_size` is {fact.chunk} and there are {fact.length} to map over"
        elif fact.why == "default":
            reason = f"by the default of `{fact.parameter}` the chunk is as large as what is mapped"
        elif fact.why == "part":
            reason = f"what is mapped was reshaped to one part of {fact.length}"
        else:
            reason = "`batch_size` is the length of what is mapped"
        yield self.finding(
            fact,
            f"{api} makes a single chunk: {reason}, so all of it is computed at once, as by `vmap`. Give it a "
            "fixed, smaller chunk, as by `batch_size`.",
            severity=Severity.INFO if ctx.role is ModuleRole.TEST else None,
            confidence=Confidence.HIGH
            if fact.why != "default" and fact.proof.guard is Guard.NONE
            else Confidence.MEDIUM,
            fix=_smaller(fact, ctx.node(fact.place), ctx),
        )


def _smaller(fact: Chunked, node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """A chunk that is an eighth of all, or a name for one where that is not known."""
    import libcst as cst

    arguments = node.args if isinstance(node, cst.Call) else ()
    chunk = next(
        (a.value for a in arguments if a.keyword is not None and a.keyword.value == "batch_size"), None
    )
    if chunk is None:
        return None
    size = str(max(1, fact.length // 8)) if fact.length else "CHUNK"
    return ctx.suggest("Map a part at a time", ctx.replace(chunk, size))
