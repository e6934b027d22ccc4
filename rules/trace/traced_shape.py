"""JAX208: a traced value where a static size is needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Finding, Fix
from jaxlint.flow.facts import TracedShape
from jaxlint.rule import Rule

from . import _tracing as tracing

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context


class TracedShapeRule(Rule):
    """A size, a bound or a length that the trace needs is a traced value itself."""

    def suspect(self, fact: TracedShape) -> bool:
        return tracing.proven(fact)

    def check(self, fact: TracedShape, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        if fact.how == "slice bound":
            need, remedy = "A slice needs static bounds", "Use `jax.lax.dynamic_slice_in_dim`, or mask"
        else:
            need = f"`{tracing.api_name(fact.api, ctx)}` needs a static size"
            remedy = "Compute it from static values with `math` or numpy, or pad to a fixed size"
        parameter = _own_parameter(fact, node, ctx)
        if parameter:
            remedy = f"Make `{parameter}` a static argument, or {remedy[0].lower()}{remedy[1:]}"
        yield self.finding(
            fact,
            f"{need}, and {tracing.quoted(fact, ctx)} has no value while tracing. {remedy}.",
            confidence=tracing.confidence(fact.operand),
            related=tracing.why_traced(fact),
            fix=_window(node, ctx),
        )


def _own_parameter(fact: TracedShape, node: cst.CSTNode | None, ctx: Context) -> str:
    """The size, where it is a parameter of the jitted function itself, so that it could be static there."""
    import libcst as cst

    around = ctx.parents(node) if node is not None else ()
    function = next((n for n in around if isinstance(n, (cst.FunctionDef, cst.Lambda))), None)
    begin = fact.proof.why_traced
    if not isinstance(function, cst.FunctionDef) or begin is None or not fact.operand.name:
        return ""
    jitted = begin.path == ctx.path and any(ctx.span(d.decorator) == begin.span for d in function.decorators)
    own = function.params
    names = {p.name.value for p in (*own.posonly_params, *own.params, *own.kwonly_params)}
    return fact.operand.name if jitted and fact.operand.name in names else ""


def _window(node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """`x[start : start + length]` as a dynamic slice, which moves without changing its length."""
    import libcst as cst

    indexed = node
    if node is not None and not isinstance(node, cst.Subscript):
        indexed = next((n for n in ctx.parents(node) if isinstance(n, (cst.Subscript, cst.Call))), None)
    match indexed:
        case cst.Subscript(
            value=array,
            slice=[
                cst.SubscriptElement(
                    slice=cst.Slice(
                        lower=cst.BaseExpression() as lower,
                        upper=cst.BinaryOperation(left=left, operator=cst.Add(), right=length),
                        step=None,
                    )
                )
            ],
        ) if lower.deep_equals(left):
            code = ctx.focus.code
            name = tracing.api_name("jax.lax.dynamic_slice_in_dim", ctx)
            text = f"{name}({code(array)}, {code(lower)}, {code(length)})"
            return Fix("Slice dynamically", Applicability.DISPLAY, (ctx.replace(indexed, text),))
    return None
