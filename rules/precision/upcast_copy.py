"""JAX603: a whole tree is copied up to float32."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Confidence, Finding, Related
from jaxlint.flow.facts import TreeUpcast
from jaxlint.rule import Rule

if TYPE_CHECKING:
    from jaxlint.context import Context

_COPIED_UNDER_JIT = (0, 6, 2)  # measured there; 0.10.2 fuses the cast into a reduction or an update
_REMEDY = "Cast leaf by leaf where it is used, as in `jnp.sum(g * g, dtype=jnp.float32)`"


class UpcastCopy(Rule):
    """Gradients or parameters, cast to float32 leaf by leaf before anything is done with them."""

    def suspect(self, fact: TreeUpcast) -> bool:
        return fact.dtype in ("float32", "single")

    def check(self, fact: TreeUpcast, ctx: Context) -> Iterator[Finding]:
        traced = fact.proof.level != "eager"
        copied = fact.proof.eager or (traced and ctx.jax_version <= _COPIED_UNDER_JIT)
        if not copied and fact.read_again is None:
            return  # perhaps its callers jit it, and then the compiler may do without the copy
        beside = "while the original is still there" if fact.rebinds else "beside the original"
        subject = f"`{fact.operand.name}`" if fact.operand.name else "the tree"
        if copied:
            message = (
                f"All of {subject} is copied to float32 {beside}: for bfloat16, twice its memory on top. "
                f"{_REMEDY}, within one `jit`."
            )
        else:
            message = (
                f"All of {subject} is cast to float32 beside the original, which is read again: for bfloat16, "
                f"twice its memory on top wherever the compiler cannot fuse the cast into every use. {_REMEDY}."
            )
        confidence = Confidence.HIGH if fact.low and fact.proof.eager else Confidence.MEDIUM
        yield self.finding(
            fact,
            message,
            confidence=confidence if copied else Confidence.LOW,
            related=[Related(fact.read_again, "the original is read here")] if fact.read_again else [],
        )
