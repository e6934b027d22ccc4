"""JAX204: traced code changes something outside the trace, or prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding
from jaxlint.flow.facts import ModuleRole, SideEffect
from jaxlint.rule import Confidence, Rule, Severity

from . import _tracing as tracing
from ._printing import debug_print

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_LEAK = "its trace ends, the tracer stays (UnexpectedTracerError when it is used)"
_ON_PURPOSE = ("trac", "compil")  # what counts traces may


class SideEffectRule(Rule):
    """A traced value is stored where it outlives its trace, or shown to somebody."""

    def suspect(self, fact: SideEffect) -> bool:
        if fact.how == "count" and any(word in fact.target.lower() for word in _ON_PURPOSE):
            return False
        if fact.how in ("count", "print", "lost"):
            return tracing.proven(fact)
        return not fact.proof.guard

    def check(self, fact: SideEffect, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        if fact.how == "count" and ctx.role is ModuleRole.TEST:
            return
        severity = {"count": Severity.INFO, "print": Severity.WARNING}.get(fact.how)
        yield self.finding(
            fact,
            _message(fact, node, ctx),
            severity=severity,
            confidence=Confidence.HIGH if fact.kept != "argument" else Confidence.MEDIUM,
            related=tracing.why_traced(fact),
            fix=debug_print(node, ctx) if fact.how == "print" and node is not None else None,
        )


def _message(fact: SideEffect, node: cst.CSTNode | None, ctx: Context) -> str:
    target = f"`{fact.target}`" if fact.target else "This container"
    if fact.how == "print":
        return (
            f"`{fact.target.removeprefix('builtins.')}` runs once, while tracing, and shows a tracer. "
            f"Use `{tracing.api_name('jax.debug.print', ctx)}`, or return the value."
        )
    if fact.how == "count":
        return f"{target} counts traces, not calls: the compiled program does not run this line."
    if fact.how == "lost":
        return f"The trace changes its own copy of {target}, and nobody gets it back. Return the new value."
    if fact.how in ("append", "item"):
        return f"{target} is older than the trace and gets a traced value: {_LEAK}. Return it instead."
    return f"A traced value is assigned to {target}: {_LEAK}. Return it instead."
