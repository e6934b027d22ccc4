"""JAX602: 64 bits are asked of jax while it gives 32."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Confidence, Finding
from jaxlint.flow.facts import WideRequest
from jaxlint.jax_api.precision import NARROWED
from jaxlint.rule import Rule

if TYPE_CHECKING:
    from jaxlint.context import Context


class Float64Request(Rule):
    """An explicit float64, int64 or complex128 in a project that never turns on 64-bit mode."""

    def suspect(self, fact: WideRequest) -> bool:
        return True

    def check(self, fact: WideRequest, ctx: Context) -> Iterator[Finding]:
        given = NARROWED[fact.dtype]
        text = ctx.text(fact.place)
        asked = f"`{text}`" if fact.dtype in text or not text[:1].isalpha() else f"`{text}` ({fact.dtype})"
        call = fact.api.rpartition(".")[2]
        yield self.finding(
            fact,
            f"{asked} gives {given}: 64-bit mode is off unless the program turns it on, and `{call}` only "
            f"warns. Ask for `{given}`, or let `jnp.result_type({_default(given)})` follow the mode.",
            confidence=Confidence.MEDIUM,
        )


def _default(given: str) -> str:
    return "complex" if given.startswith("complex") else "int" if "int" in given else "float"
