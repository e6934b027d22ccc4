"""How an outer value that traced code reads becomes an argument: a worked suggestion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Edit, Fix, Span
from jaxlint.flow.facts import Boundary, BoundaryUse, StaleRead

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

# What is read by an expression that means the same where the function is called.
_SAME_AT_THE_CALL = frozenset({"global", "attribute"})


def as_argument(fact: StaleRead, ctx: Context) -> Fix | None:
    """One more parameter for the function and one more argument for its calls, where they are in view."""
    import libcst as cst

    read, function = ctx.node(fact.read), _function(fact.boundary, ctx)
    calls = [ctx.node(place) for place in dict.fromkeys((fact.earlier_call, fact.later_call)) if place]
    if read is None or function is None or function not in ctx.parents(read):
        return None
    text = ctx.focus.code(read)
    root, name = text.partition(".")[0], text.rpartition(".")[2].lower()
    plain = fact.subject in _SAME_AT_THE_CALL and name.isidentifier()
    if not plain or not _takes_one_more(function, name) or root in _names(function):
        return None
    last = function.params.params[-1]
    edits = [_after(last.annotation.annotation if last.annotation else last.name, name, ctx)]
    edits += [ctx.replace(node, name) for node in equal_nodes(function.body, read)]
    for call in calls:
        if not isinstance(call, cst.Call) or not call.args:
            return None
        edits.append(_last_argument(call, name, text, ctx))
    return Fix(f"Pass {text} as an argument", Applicability.DISPLAY, tuple(edits))


def as_parameter(name: str, boundary: Boundary, ctx: Context) -> Fix | None:
    """One more parameter of the same name as an outer one, and one more argument for every call in view."""
    import libcst as cst

    function = _function(boundary, ctx)
    uses = [use for use in ctx.facts(BoundaryUse) if use.boundary.place == boundary.place]
    calls = [ctx.node(place) for place in dict.fromkeys(use.place for use in uses)]
    if function is None or not calls or not name.isidentifier() or not _takes_one_more(function, name):
        return None
    last = function.params.params[-1]
    edits = [_after(last.annotation.annotation if last.annotation else last.name, name, ctx)]
    for call in calls:
        if not isinstance(call, cst.Call) or not call.args:
            return None
        edits.append(_last_argument(call, name, name, ctx))
    return ctx.suggest(f"Pass {name} as an argument", *edits)


def _function(boundary: Boundary | None, ctx: Context) -> cst.FunctionDef | None:
    """The definition of the jitted function."""
    import libcst as cst

    definition = boundary.definition if boundary is not None else None
    node = ctx.node(definition) if definition is not None else None
    around = (node, *ctx.parents(node)) if node is not None else ()
    return next((each for each in around if isinstance(each, cst.FunctionDef)), None)


def _names(function: cst.FunctionDef) -> set[str]:
    return {parameter.name.value for parameter in function.params.params}


def _takes_one_more(function: cst.FunctionDef, name: str) -> bool:
    """Whether a plain parameter of that name can follow the last one."""
    own = function.params
    plain = bool(own.params) and not own.kwonly_params and own.star_kwarg is None
    return plain and own.params[-1].default is None and name not in _names(function)


def equal_nodes(body: cst.CSTNode, read: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Every place in a body that says the same."""
    waiting = [body]
    while waiting:
        node = waiting.pop()
        if node.deep_equals(read):
            yield node
        else:
            waiting.extend(node.children)


def _after(node: cst.CSTNode, name: str, ctx: Context) -> Edit:
    span = ctx.span(node)
    return Edit(Span(span.end_line, span.end_column, span.end_line, span.end_column), f", {name}")


def _last_argument(call: cst.Call, name: str, text: str, ctx: Context) -> Edit:
    """One more argument, by keyword behind those that are."""
    import libcst as cst

    span = ctx.span(call)
    before = span.end_column - 1  # the closing parenthesis
    by = f"{name}=" if call.args[-1].keyword is not None else ""
    separator = " " if isinstance(call.args[-1].comma, cst.Comma) else ", "
    return Edit(Span(span.end_line, before, span.end_line, before), f"{separator}{by}{text}")
