"""JAX207: the shape of a traced result would depend on values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Edit, Finding, Fix
from jaxlint.flow.facts import DataDependentShape
from jaxlint.rule import Rule

from . import _tracing as tracing

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

# What makes the shape static, where it is not `size=`.
_SIZES = {
    "repeat": "`total_repeat_length=`",
    "bincount": "`length=`",
    "roots": "`strip_zeros=False`",
    "trim_zeros": "",
}
# Functions of one array that never find more than it has elements.
_BOUNDED = frozenset({"nonzero", "flatnonzero", "argwhere", "where", "unique"})
_REDUCTIONS = frozenset({"sum", "mean", "prod", "any", "all", "std", "var"})
_WRITES = {
    "set": "{v}",
    "add": "{x} + {v}",
    "subtract": "{x} - {v}",
    "multiply": "{x} * {v}",
    "divide": "{x} / {v}",
}


class DataDependentShapeRule(Rule):
    """An operation in traced code has as many results as the data decides."""

    def suspect(self, fact: DataDependentShape) -> bool:
        return tracing.proven(fact)

    def check(self, fact: DataDependentShape, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        edit = _edit(fact, node, ctx) if node is not None else None
        yield self.finding(
            fact,
            _message(fact, node, ctx),
            confidence=tracing.confidence(fact.operand),
            related=tracing.why_traced(fact),
            fix=Fix("Keep the shape static", Applicability.DISPLAY, (edit,)) if edit is not None else None,
        )


def _message(fact: DataDependentShape, node: cst.CSTNode | None, ctx: Context) -> str:
    taker = node if fact.how == "call" or node is None else _indexed(node)
    value = tracing.quoted(fact, ctx, taker)
    where = tracing.api_name("jax.numpy.where", ctx)
    if fact.how == "call":
        size = _SIZES.get(fact.api.rpartition(".")[2], "`size=`")
        remedy = f"Give {size}" if size else f"Mask with `{where}`"
        return (
            f"The shape of `{tracing.api_name(fact.api, ctx)}` depends on what {value} holds, and a traced "
            f"shape must be static (ConcretizationTypeError). {remedy}."
        )
    if fact.how == "mask write":
        why = f"Writing through {value} needs to know where it is True, though no shape depends on it"
    else:
        why = (
            f"Reading through {value} gives as many elements as it has True, which no traced shape can follow"
        )
    return f"{why} (NonConcreteBooleanIndexError). Use `{where}`."


def _edit(fact: DataDependentShape, node: cst.CSTNode, ctx: Context) -> Edit | None:
    import libcst as cst

    if fact.how == "call":
        return _sized(fact, node, ctx) if isinstance(node, cst.Call) else None
    indexed = _indexed(node)
    if indexed is None or len(indexed.slice) != 1:
        return None
    mask = ctx.focus.code(indexed.slice[0].slice)
    return _masked_write(indexed, mask, ctx) if fact.how == "mask write" else _masked_read(indexed, mask, ctx)


def _sized(fact: DataDependentShape, call: cst.Call, ctx: Context) -> Edit | None:
    """`jnp.nonzero(x)` as `jnp.nonzero(x, size=x.size)`: the most there can be."""
    import libcst as cst

    first = call.args[0].value if call.args and call.args[0].keyword is None else None
    if fact.api.rpartition(".")[2] not in _BOUNDED or not isinstance(first, (cst.Name, cst.Attribute)):
        return None
    size = cst.Arg(
        keyword=cst.Name("size"),
        value=cst.Attribute(first, cst.Name("size")),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    return ctx.replace(call, call.with_changes(args=[*call.args, size]))


def _masked_read(indexed: cst.Subscript, mask: str, ctx: Context) -> Edit:
    """A reduction over the selection takes the mask; anything else keeps its length."""
    import libcst as cst

    array = ctx.focus.code(indexed.value)
    around = list(ctx.parents(indexed))[:2]
    match around:
        case [cst.Attribute(attr=method), cst.Call(args=[]) as call] if method.value in _REDUCTIONS:
            return ctx.replace(call, f"{array}.{method.value}(where={mask})")
        case [cst.Arg(keyword=None), cst.Call(args=[_]) as call]:
            function = ctx.focus.code(call.func)
            if function in {tracing.api_name(f"jax.numpy.{name}", ctx) for name in _REDUCTIONS}:
                return ctx.replace(call, f"{function}({array}, where={mask})")
    return ctx.replace(indexed, f"{tracing.api_name('jax.numpy.where', ctx)}({mask}, {array}, 0)")


def _masked_write(indexed: cst.Subscript, mask: str, ctx: Context) -> Edit | None:
    """`x.at[mask].add(v)` as `jnp.where(mask, x + v, x)`."""
    import libcst as cst

    match [indexed.value, *list(ctx.parents(indexed))[:2]]:
        case [
            cst.Attribute(value=array, attr=cst.Name("at")),
            cst.Attribute(attr=cst.Name(method)),
            cst.Call(args=[cst.Arg(keyword=None, value=value)]) as call,
        ] if method in _WRITES:
            old = ctx.focus.code(array)
            new = _WRITES[method].format(x=old, v=ctx.focus.code(value))
            return ctx.replace(call, f"{tracing.api_name('jax.numpy.where', ctx)}({mask}, {new}, {old})")
    return None


def _indexed(node: cst.CSTNode) -> cst.Subscript | None:
    """`x[mask]`, also where the node is the call of a method of `x.at[mask]`."""
    import libcst as cst

    match node:
        case cst.Subscript():
            return node
        case cst.Call(func=cst.Attribute(value=cst.Subscript() as indexed)):
            return indexed
    return None
