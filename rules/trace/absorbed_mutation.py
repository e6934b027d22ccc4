"""JAX202: a test changes what compiled code read when another test traced it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Edit, Finding, Fix, Related, Span
from jaxlint.flow.facts import AbsorbedMutation
from jaxlint.rule import Confidence, Rule

from ._tracing import api_name

if TYPE_CHECKING:
    from jaxlint.context import Context


class AbsorbedMutationRule(Rule):
    """A test patches a value, and the compiled function that it calls keeps the old one."""

    def suspect(self, fact: AbsorbedMutation) -> bool:
        return True

    def check(self, fact: AbsorbedMutation, ctx: Context) -> Iterator[Finding]:
        function = fact.boundary.function.rpartition(".")[2]
        keeper = f"`{function}`" if function and not function.startswith("<") else "The jitted function"
        yield self.finding(
            fact,
            f"{keeper} keeps the `{fact.name}` that it was traced with: once another test has called it with "
            "these shapes, this change has no effect, and its own trace outlives the test. "
            f"Call `{api_name('jax.clear_caches', ctx)}()` after it.",
            confidence=Confidence.HIGH if fact.others else Confidence.MEDIUM,
            related=[
                Related(fact.read, "read here, while tracing"),
                Related(fact.call, "this call may run the old trace"),
                *(Related(place, "traced by this call, among others") for place in fact.others),
            ],
            fix=_clear_before(fact, ctx),
        )


def _clear_before(fact: AbsorbedMutation, ctx: Context) -> Fix | None:
    """Forget all traces right before the statement that calls."""
    import libcst as cst

    call = ctx.node(fact.call)
    around = (call, *ctx.parents(call)) if call is not None else ()
    line = next((n for n in around if isinstance(n, cst.SimpleStatementLine)), None)
    clear = ctx.spell("jax.clear_caches")
    if line is None or clear is None:
        return None
    span = ctx.span(line)
    at = Span(span.line, span.column, span.line, span.column)
    return Fix(
        "Forget the traces first",
        Applicability.DISPLAY,
        (Edit(at, f"{clear}()\n{' ' * (span.column - 1)}"),),
    )
