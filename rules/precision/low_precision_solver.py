"""JAX601: a solver works in 16 bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Confidence, Finding, Related
from jaxlint.flow.facts import LowPrecisionSolve
from jaxlint.jax_api.precision import SECOND_ORDER
from jaxlint.rule import Rule

if TYPE_CHECKING:
    from jaxlint.context import Context


class LowPrecisionSolver(Rule):
    """bfloat16 or float16 values go into a linear solve, a factorisation or a second-order optimiser."""

    def suspect(self, fact: LowPrecisionSolve) -> bool:
        return True

    def check(self, fact: LowPrecisionSolve, ctx: Context) -> Iterator[Finding]:
        solver = ctx.spell(fact.solver) or fact.solver
        dtype = fact.dtype or "16-bit"
        subject = f"`{fact.operand.name}`" if fact.operand.name else "its argument"
        if fact.solver in SECOND_ORDER:
            happens = (
                f"`{solver}` steps along differences of gradients, and {subject} is {dtype}: they round away"
            )
        elif fact.solver.startswith(("jax.numpy.linalg", "jax.scipy.linalg", "jax.lax.linalg")):
            happens = f"`{solver}` gets {subject} in {dtype}: it raises, or answers with two or three digits"
        else:
            happens = f"`{solver}` works in the precision of {subject}, which is {dtype}: it stalls early"
        yield self.finding(
            fact,
            f"{happens}. Solve in float32 (`.astype(jnp.float32)`) and cast the result.",
            confidence=Confidence.HIGH if fact.dtype else Confidence.MEDIUM,
            related=[Related(fact.use, "solved here")] if fact.use != fact.place else [],
        )
