"""JAX201: the program changes what compiled code read while it was traced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Edit, Finding, Fix, Place, Related, Span
from jaxlint.flow.facts import StaleRead
from jaxlint.rule import Confidence, Rule

from . import _tracing as tracing

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

# What is read by an expression that means the same where the function is called.
_SAME_AT_THE_CALL = frozenset({"global", "item", "attribute"})


class StaleGlobal(Rule):
    """An outer value that traced code has read is rebound or mutated afterwards."""

    def suspect(self, fact: StaleRead) -> bool:
        # A change that is itself traced happens once per trace, which is another fault.
        return fact.proof.level not in tracing.VALUELESS

    def check(self, fact: StaleRead, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        function = fact.boundary.function.rpartition(".")[2] if fact.boundary is not None else ""
        keeper = f"`{function}`" if function else "The traced function"
        yield self.finding(
            fact,
            f"{keeper} keeps the `{ctx.text(fact.read) or fact.name}` that it read while it was traced, and "
            "this change never reaches it. Pass it as an argument.",
            confidence=Confidence.HIGH if fact.later_call is not None else Confidence.MEDIUM,
            related=list(_trail(fact)),
            fix=_as_argument(fact, ctx),
        )


def _trail(fact: StaleRead) -> Iterator[Related]:
    yield Related(fact.read, "read here, while tracing")
    yield Related(fact.earlier_call, "traced by this call")
    if fact.later_call is not None and fact.later_call != fact.earlier_call:
        yield Related(fact.later_call, "this call still computes with the old value")


def _as_argument(fact: StaleRead, ctx: Context) -> Fix | None:
    """One more parameter for the function and one more argument for its calls, where they are in view."""
    import libcst as cst

    definition = fact.boundary.definition if fact.boundary is not None else None
    read, function = ctx.node(fact.read), _node(definition, ctx)
    calls = [_node(place, ctx) for place in dict.fromkeys((fact.earlier_call, fact.later_call)) if place]
    if read is None or not isinstance(function, cst.FunctionDef) or function not in ctx.parents(read):
        return None
    text = ctx.focus.code(read)
    name = text.rpartition(".")[2].rpartition("[")[2].strip("\"']").lower()
    if (
        fact.subject not in _SAME_AT_THE_CALL
        or not name.isidentifier()
        or not _takes_one_more(function, name)
    ):
        return None
    last = function.params.params[-1]
    edits = [
        ctx.replace(read, name),
        _after(last.annotation.annotation if last.annotation else last.name, name, ctx),
    ]
    for call in calls:
        if not isinstance(call, cst.Call) or not call.args:
            return None
        edits.append(_last_argument(call, text, ctx))
    return Fix(f"Pass {text} as an argument", Applicability.DISPLAY, tuple(edits))


def _node(place: Place | None, ctx: Context) -> cst.CSTNode | None:
    return ctx.node(place) if place is not None else None


def _takes_one_more(function: cst.FunctionDef, name: str) -> bool:
    """Whether a plain parameter of that name can follow the last one."""
    own = function.params
    plain = (
        bool(own.params)
        and not own.kwonly_params
        and own.star_kwarg is None
        and own.params[-1].default is None
    )
    return plain and all(parameter.name.value != name for parameter in own.params)


def _after(node: cst.CSTNode, name: str, ctx: Context) -> Edit:
    span = ctx.span(node)
    return Edit(Span(span.end_line, span.end_column, span.end_line, span.end_column), f", {name}")


def _last_argument(call: cst.Call, text: str, ctx: Context) -> Edit:
    import libcst as cst

    span = ctx.span(call)
    before = span.end_column - 1  # the closing parenthesis
    separator = " " if isinstance(call.args[-1].comma, cst.Comma) else ", "
    return Edit(Span(span.end_line, before, span.end_line, before), f"{separator}{text}")
