"""JAX603: a whole tree is copied up to float32."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Confidence, Finding
from jaxlint.flow.facts import TreeUpcast
from jaxlint.pattern import pattern
from jaxlint.rule import Rule

if TYPE_CHECKING:
    from jaxlint.context import Context

_LARGE = pattern(r"(^|_)(d?grads?|gradients?|params?|parameters|weights|updates)(_|\d|$)")
_COPIED_UNDER_JIT = (0, 6, 2)  # measured there; 0.10.2 fuses the cast into a reduction


class UpcastCopy(Rule):
    """Gradients or parameters, cast to float32 leaf by leaf before anything is done with them."""

    def suspect(self, fact: TreeUpcast) -> bool:
        name = fact.operand.name or ""
        return fact.dtype == "float32" and bool(_LARGE.search(name.rpartition(".")[2].lower()))

    def check(self, fact: TreeUpcast, ctx: Context) -> Iterator[Finding]:
        if not fact.proof.eager and (fact.proof.level == "eager" or ctx.jax_version > _COPIED_UNDER_JIT):
            return  # perhaps its callers jit it, and then the compiler may do without the copy
        beside = "while the original is still there" if fact.rebinds else "beside the original"
        yield self.finding(
            fact,
            f"All of `{fact.operand.name}` is copied to float32 {beside}: for bfloat16, twice its memory on top. "
            "Cast leaf by leaf where it is used, as in `jnp.sum(g * g, dtype=jnp.float32)`, within one `jit`.",
            confidence=Confidence.HIGH if fact.low and fact.proof.eager else Confidence.MEDIUM,
        )
