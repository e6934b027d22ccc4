"""JAX113: a trace guard outside the boundary that it should watch."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Edit, Finding, Fix, Related, Span
from jaxlint.flow.facts import GuardOrder
from jaxlint.rule import Rule

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_TITLE = "Put the guard inside the boundary"
_FUNCTION = ("fun", "f")


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
        if not _only_names_between(around, within, ctx):
            return None  # a cache, say, would come to stand between other two than before
        guard, jit = _with_comments(around, ctx), _with_comments(within, ctx)
        edits = (Edit(guard, ctx.focus.text(jit)), Edit(jit, ctx.focus.text(guard)))
        if _has_comment_above(around, ctx):  # of the guard, or of the whole function?
            return ctx.suggest(_TITLE, *edits)
    elif isinstance(inner, cst.Call) and any(p is node for p in ctx.parents(inner)):
        function = _function(inner)
        if function is None or _binds_between(node, inner, ctx):
            return None
        edits = (ctx.replace(node, _turned(ctx.span(node), ctx.span(inner), ctx.span(function), ctx)),)
    else:
        return None
    return Fix(_TITLE, Applicability.SAFE, edits)


def _binds_between(guard: cst.CSTNode, jit: cst.CSTNode, ctx: Context) -> bool:
    """Whether more than calls stand between the two, or a name is bound there: it would mean another function."""
    import libcst as cst
    import libcst.matchers as m

    between = itertools.takewhile(lambda parent: parent is not guard, ctx.parents(jit))
    plain = all(isinstance(parent, (cst.Call, cst.Arg)) for parent in between)
    return not plain or bool(m.findall(guard, m.NamedExpr()))


def _function(jit: cst.Call) -> cst.BaseExpression | None:
    """What a call jits: its first argument, or the one under the name that jax, Equinox and Flax have for it."""
    named = (arg.value for arg in jit.args if arg.keyword is not None and arg.keyword.value in _FUNCTION)
    if jit.args and jit.args[0].keyword is None:
        return None if jit.args[0].star else jit.args[0].value
    return next(named, None)


def _only_names_between(guard: cst.Decorator, jit: cst.Decorator, ctx: Context) -> bool:
    """Whether what stands between two decorators is known to pass calls on as they come."""
    import libcst as cst

    function = next(ctx.parents(guard), None)
    if not isinstance(function, cst.FunctionDef) or jit not in function.decorators:
        return False
    first, last = (function.decorators.index(one) for one in (guard, jit))
    scope = ctx.spell("jax.named_scope")
    between = [d.decorator for d in function.decorators[first + 1 : last]]
    return all(isinstance(d, cst.Call) and ctx.focus.code(d.func) == scope for d in between)


def _with_comments(decorator: cst.Decorator, ctx: Context) -> Span:
    """The lines of a decorator with those of the comments that are its own: at their ends, and above.

    What stands above the first decorator may be about the function, and stays.
    """
    span = ctx.span(decorator)
    last = ctx.focus.lines[span.end_line - 1].rstrip("\r\n")
    return Span(span.line - len(decorator.leading_lines), 1, span.end_line, len(last) + 1)


def _has_comment_above(decorator: cst.Decorator, ctx: Context) -> bool:
    above = ctx.focus.lines[: ctx.span(decorator).line - 1]
    return not decorator.leading_lines and bool(above) and above[-1].lstrip().startswith("#")


def _turned(guard: Span, jit: Span, function: Span, ctx: Context) -> str:
    """`guard(jit(f))` as `jit(guard(f))`: the texts around the hole of each call change places."""

    def around(outer: Span, hole: Span) -> tuple[str, str]:
        before = Span(outer.line, outer.column, hole.line, hole.column)
        after = Span(hole.end_line, hole.end_column, outer.end_line, outer.end_column)
        return ctx.focus.text(before), ctx.focus.text(after)

    guard_before, guard_after = around(guard, jit)
    jit_before, jit_after = around(jit, function)
    return jit_before + guard_before + ctx.focus.text(function) + guard_after + jit_after
