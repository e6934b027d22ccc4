"""JAX113: a trace guard outside the boundary that it should watch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Edit, Finding, Fix, Related, Span
from jaxlint.flow.facts import GuardOrder
from jaxlint.rule import Rule

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context


class TraceGuardOrder(Rule):
    """`assert_max_traces` wraps a jitted function instead of being wrapped by it."""

    def suspect(self, fact: GuardOrder) -> bool:
        return True

    def check(self, fact: GuardOrder, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        name = _guarded(node, ctx)
        if fact.api.startswith("chex."):
            message = (
                f"`chex.assert_max_traces` wraps the jitted {name}: chex refuses a `jax.jit` function with a "
                "ValueError and sees no trace through any other boundary. Let the boundary wrap the guard."
            )
        else:
            message = (
                f"`assert_max_traces` wraps the jitted {name}: it counts calls instead of traces, and raises "
                "although nothing was traced again. Let the boundary wrap the guard."
            )
        yield self.finding(
            fact, message, related=[Related(fact.inner, "jitted here")], fix=_swap(fact, node, ctx)
        )


def _guarded(node: cst.CSTNode | None, ctx: Context) -> str:
    """The guarded function in the words of the source."""
    import libcst as cst

    if node is None:
        return "function"
    decorated = next((p for p in ctx.parents(node) if isinstance(p, cst.FunctionDef)), None)
    in_decorator = any(isinstance(p, cst.Decorator) for p in ctx.parents(node))
    return f"`{decorated.name.value}`" if decorated is not None and in_decorator else "function"


def _swap(fact: GuardOrder, node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    import libcst as cst

    inner = ctx.node(fact.inner)
    if node is None or inner is None:
        return None
    around, within = next(ctx.parents(node), None), next(ctx.parents(inner), None)
    edits: tuple[Edit, ...]
    if isinstance(around, cst.Decorator) and isinstance(within, cst.Decorator):
        guard, jit = ctx.focus.text(ctx.span(node)), ctx.focus.text(ctx.span(inner))
        edits = (ctx.replace(node, jit), ctx.replace(inner, guard))
    elif isinstance(inner, cst.Call) and inner.args and any(p is node for p in ctx.parents(inner)):
        function = inner.args[0].value
        edits = (ctx.replace(node, _turned(ctx.span(node), ctx.span(inner), ctx.span(function), ctx)),)
    else:
        return None
    return Fix("Put the guard inside the boundary", Applicability.SAFE, edits)


def _turned(guard: Span, jit: Span, function: Span, ctx: Context) -> str:
    """`guard(jit(f))` as `jit(guard(f))`: the texts around the hole of each call change places."""

    def around(outer: Span, hole: Span) -> tuple[str, str]:
        before = Span(outer.line, outer.column, hole.line, hole.column)
        after = Span(hole.end_line, hole.end_column, outer.end_line, outer.end_column)
        return ctx.focus.text(before), ctx.focus.text(after)

    guard_before, guard_after = around(guard, jit)
    jit_before, jit_after = around(jit, function)
    return jit_before + guard_before + ctx.focus.text(function) + guard_after + jit_after
