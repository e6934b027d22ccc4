"""JAX209: a cache is filled while tracing, and hands the tracer to everybody who asks later."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Edit, Finding, Fix, Related, Span
from jaxlint.flow.facts import CachedTracer
from jaxlint.rule import Confidence, Rule

from . import _tracing as tracing

if TYPE_CHECKING:
    from jaxlint.context import Context

_DECORATORS = frozenset({"lru_cache", "cache", "cached_property"})


class CachedTracerRule(Rule):
    """A decorator, dict or attribute that outlives the trace keeps a traced value."""

    def suspect(self, fact: CachedTracer) -> bool:
        return fact.how in _DECORATORS or tracing.proven(fact)

    def check(self, fact: CachedTracer, ctx: Context) -> Iterator[Finding]:
        if fact.how in _DECORATORS:
            keeper = f"`{fact.how}` keeps what `{fact.name}` returns"
            remedy = "Compute it with numpy, or under `jax.ensure_compile_time_eval()`"
        else:
            text = ctx.text(fact.place) or fact.name
            keeper = f"`{text}` is filled" if len(text) <= tracing.LONGEST else "This cache is filled"
            remedy = "Fill it before the trace, or with numpy arrays"
        yield self.finding(
            fact,
            f"{keeper} while tracing: a tracer, which whoever asks after the trace gets too "
            f"(UnexpectedTracerError). {remedy}.",
            confidence=Confidence.HIGH if fact.calls or fact.how not in _DECORATORS else Confidence.MEDIUM,
            related=[
                *tracing.why_traced(fact),
                *(Related(c, "asked here, while tracing") for c in fact.calls),
            ],
            fix=_evaluated(fact, ctx) if fact.how in _DECORATORS else None,
        )


def _evaluated(fact: CachedTracer, ctx: Context) -> Fix | None:
    """The body under `jax.ensure_compile_time_eval()`, where constants are computed at once."""
    import libcst as cst

    node = ctx.node(fact.place)
    around = [node, *ctx.parents(node)] if node is not None else []
    function = next((each for each in around if isinstance(each, cst.FunctionDef)), None)
    if function is None or not isinstance(function.body, cst.IndentedBlock) or not function.body.body:
        return None
    first, last = (ctx.span(function.body.body[index]) for index in (0, -1))
    whole = Span(first.line, 1, last.end_line, last.end_column)
    indent = ctx.indent(function.body.body[0])
    body = textwrap.indent(ctx.focus.text(whole), "\t" if "\t" in indent else "    ")
    under = ctx.spell("jax.ensure_compile_time_eval") or "jax.ensure_compile_time_eval"
    return ctx.suggest("Compute it at once", Edit(whole, f"{indent}with {under}():\n{body}"))
