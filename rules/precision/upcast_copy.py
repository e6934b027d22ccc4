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
        if not copied and fact.read_again is None and not (fact.copy_read_again and fact.names_low):
            return  # perhaps its callers jit it, and then the compiler may do without the copy
        if copied:
            confidence = Confidence.HIGH if fact.low and fact.proof.eager else Confidence.MEDIUM
        else:
            confidence = Confidence.LOW
        yield self.finding(
            fact, _copied(fact) if copied else _perhaps(fact), confidence=confidence, related=_related(fact)
        )


def _copied(fact: TreeUpcast) -> str:
    beside = "while the original is still there" if fact.rebinds else "beside the original"
    return (
        f"All of {_subject(fact)} is copied to float32 {beside}: for bfloat16, twice its memory on top. "
        f"{_REMEDY}, within one `jit`."
    )


def _perhaps(fact: TreeUpcast) -> str:
    """What is true whether the compiler makes the copy or not."""
    to = "to float32 for a caller" if fact.caller is not None else "to float32"
    if fact.read_again is not None:
        reads = "beside the original, which is read again"
    else:
        reads = "and the result is read more than once"
    return (
        f"All of {_subject(fact)} is cast {to} {reads}: for bfloat16, twice its memory on top wherever the "
        f"compiler cannot fuse the cast into every use. {_REMEDY}."
    )


def _subject(fact: TreeUpcast) -> str:
    return f"`{fact.operand.name}`" if fact.operand.name else "the tree"


def _related(fact: TreeUpcast) -> list[Related]:
    places = (
        (fact.caller, "the copy is asked for here"),
        (fact.read_again, "the original is read here"),
        (fact.copy_read_again if fact.read_again is None else None, "the copy is read again here"),
    )
    return [Related(place, text) for place, text in places if place is not None]
