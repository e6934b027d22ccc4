"""JAX205: Python needs a value where a trace has none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from jaxlint.finding import Finding
from jaxlint.flow.facts import TracedBranch
from jaxlint.jax_api.twins import MATH_TWINS
from jaxlint.rule import Rule

from . import _tracing as tracing
from ._branches import without_asking

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context


class Demand(NamedTuple):
    """What a construct asks of a value, how a tracer answers, and what to write instead."""

    wanted: str
    error: str
    remedy: str


def _bool(remedy: str) -> Demand:
    return Demand("a Python bool", "TracerBoolConversionError", remedy)


def _number(remedy: str) -> Demand:
    return Demand("a Python number", "ConcretizationTypeError", remedy)


def _integer(remedy: str) -> Demand:
    return Demand("a Python integer", "TracerIntegerConversionError", remedy)


_CONVERSION = _number("Return the array and convert it after the call")
_DEMANDS = {
    "if": _bool("Choose values with `jnp.where`, or work with `jax.lax.cond`"),
    "while": _bool("Loop with `jax.lax.while_loop`"),
    "assert": _bool("Use `checkify.check`, or test before the call"),
    "and/or": _bool("Combine with `jnp.logical_and` or `jnp.logical_or`"),
    "chained comparison": _bool("Compare twice and combine with `&`"),
    "not": _bool("Use `jnp.logical_not`"),
    "in": _bool("Use `jnp.isin`"),
    "bool()": _bool("Return the array and convert it after the call"),
    "min()": _bool("Use `jnp.minimum` or `jnp.min`"),
    "max()": _bool("Use `jnp.maximum` or `jnp.max`"),
    "sorted()": _bool("Use `jnp.sort`"),
    ".sort()": _bool("Stack the list and use `jnp.sort`"),
    "min(key=)": _bool("Stack the candidates and what is compared, and index with `jnp.argmin`"),
    "max(key=)": _bool("Stack the candidates and what is compared, and index with `jnp.argmax`"),
    "sorted(key=)": _bool("Stack the members and what is compared, and index with `jnp.argsort`"),
    ".sort(key=)": _bool("Stack the members and what is compared, and index with `jnp.argsort`"),
    "any()": _bool("Use `jnp.any`"),
    "all()": _bool("Use `jnp.all`"),
    "range()": _integer("Loop with `jax.lax.fori_loop`, or make the bound a static argument"),
    "index": _integer("Stack the list and index the array, or choose with `jax.lax.switch`"),
    "format": Demand("a Python number", "TypeError", "Use `jax.debug.print`, or format after the call"),
}


class TracedBranchRule(Rule):
    """Python control flow, a conversion or a builtin asks a traced value for a concrete one."""

    def suspect(self, fact: TracedBranch) -> bool:
        return tracing.proven(fact)

    def check(self, fact: TracedBranch, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        demand = _demand(fact.how)
        remedy = tracing.in_file_spelling(demand.remedy, ctx)
        taker = node if fact.how.endswith("()") or "." in fact.how else None
        of_key = fact.how.endswith("(key=)")
        value = "what the key gives" if of_key else tracing.quoted(fact, ctx, taker)
        yield self.finding(
            fact,
            f"`{fact.how}` needs {demand.wanted} of {value}, which has no value while tracing "
            f"({demand.error}). {remedy}.",
            confidence=tracing.confidence(fact.operand),
            related=tracing.why_traced(fact),
            fix=without_asking(fact.how, node, ctx) if node is not None else None,
        )


def _demand(how: str) -> Demand:
    if how.startswith("math.") and how[5:] in MATH_TWINS:
        return _number(f"Use `jnp.{how[5:]}`")
    return _DEMANDS.get(how, _CONVERSION)
