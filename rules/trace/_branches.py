"""What Python's control flow and conversions look like without asking for a value: worked suggestions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Edit, Fix, Span
from jaxlint.jax_api.twins import MATH_TWINS

from . import _tracing as tracing

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

# Builtins with one or two array arguments → the function of jax.numpy.
_REDUCTIONS = {"any()": "any", "all()": "all", "sorted()": "sort", "min()": "min", "max()": "max"}
_PAIRWISE = {"min()": "minimum", "max()": "maximum"}
_CONVERSIONS = frozenset({"float()", "bool()", "complex()", ".item()", ".tolist()"})


def without_asking(how: str, node: cst.CSTNode, ctx: Context) -> Fix | None:
    """The construct around or at a node, written with jax.numpy."""
    import libcst as cst

    parent = next(ctx.parents(node), None)
    if isinstance(parent, (cst.If, cst.IfExp)) and parent.test is node:
        edit = _chosen(parent, ctx)
    elif isinstance(parent, cst.UnaryOperation) and how == "not":
        edit = ctx.replace(parent, _call("logical_not", [node], ctx))
    elif how == "and/or":
        edit = _combined(node, ctx)
    elif isinstance(node, cst.Call):
        edit = _called(how, node, ctx)
    else:
        edit = None
    return Fix("Write it with jax.numpy", Applicability.DISPLAY, (edit,)) if edit is not None else None


def _call(name: str, arguments: Sequence[cst.CSTNode], ctx: Context) -> str:
    inner = ", ".join(ctx.focus.code(argument) for argument in arguments)
    return f"{tracing.api_name(f'jax.numpy.{name}', ctx)}({inner})"


def _combined(node: cst.CSTNode, ctx: Context) -> Edit | None:
    import libcst as cst

    whole = next((n for n in (node, *ctx.parents(node)) if isinstance(n, cst.BooleanOperation)), None)
    if whole is None:
        return None
    name = "logical_and" if isinstance(whole.operator, cst.And) else "logical_or"
    return ctx.replace(whole, _call(name, [whole.left, whole.right], ctx))


def _called(how: str, call: cst.Call, ctx: Context) -> Edit | None:
    """A conversion loses itself, a builtin or a function of math becomes the one for arrays."""
    import libcst as cst

    plain = all(argument.keyword is None and not argument.star for argument in call.args)
    values = [argument.value for argument in call.args]
    if not plain or any(isinstance(value, cst.GeneratorExp) for value in values):
        return None
    if how in _CONVERSIONS:
        method = how.startswith(".") and isinstance(call.func, cst.Attribute)
        kept = call.func.value if method and isinstance(call.func, cst.Attribute) else None
        kept = values[0] if kept is None and len(values) == 1 else kept
        return ctx.replace(call, kept) if kept is not None else None
    if how.startswith("math.") and how[5:] in MATH_TWINS:
        return ctx.replace(call, _call(how[5:], values, ctx))
    name = {1: _REDUCTIONS, 2: _PAIRWISE}.get(len(values), {}).get(how)
    return ctx.replace(call, _call(name, values, ctx)) if name is not None else None


def _chosen(branch: cst.If | cst.IfExp, ctx: Context) -> Edit | None:
    """`if` over two values of one name, or two returned ones, as one `jnp.where`."""
    import libcst as cst

    if isinstance(branch, cst.IfExp):
        return ctx.replace(branch, _call("where", [branch.test, branch.body, branch.orelse], ctx))
    span = ctx.span(branch)
    first = _outcome(branch.body, ctx)
    if isinstance(branch.orelse, cst.Else):
        second = _outcome(branch.orelse.body, ctx)
    elif branch.orelse is None and first is not None and first[0] != "return":
        second = first[0], cst.parse_expression(first[0].removesuffix(" ="))
    else:
        following = _next(branch, ctx) if branch.orelse is None else None
        second = _outcome(following, ctx) if following is not None else None
        if following is not None:
            end = ctx.span(following)
            span = Span(span.line, span.column, end.end_line, end.end_column)
    if first is None or second is None or first[0] != second[0]:
        return None
    return Edit(span, f"{first[0]} {_call('where', [branch.test, first[1], second[1]], ctx)}")


def _outcome(body: cst.CSTNode, ctx: Context) -> tuple[str, cst.BaseExpression] | None:
    """("x =" or "return", the value) of a block that does nothing else than assign or return an array."""
    import libcst as cst

    block = body.body if isinstance(body, cst.IndentedBlock) else [body]
    small = block[0].body if len(block) == 1 and isinstance(block[0], cst.SimpleStatementLine) else ()
    statement = small[0] if len(small) == 1 else None
    head, value = "", None
    if isinstance(statement, cst.Return):
        head, value = "return", statement.value
    elif isinstance(statement, cst.Assign) and len(statement.targets) == 1:
        head, value = f"{ctx.focus.code(statement.targets[0].target)} =", statement.value
    no_array = (cst.Tuple, cst.List, cst.Dict, cst.BaseString, cst.Lambda, cst.Yield, cst.Await)
    if (
        value is None
        or isinstance(value, no_array)
        or (isinstance(value, cst.Name) and value.value == "None")
    ):
        return None
    return head, value


def _next(statement: cst.CSTNode, ctx: Context) -> cst.CSTNode | None:
    """The statement after another of the same block."""
    import libcst as cst

    block = next(ctx.parents(statement), None)
    rest = list(block.body) if isinstance(block, (cst.IndentedBlock, cst.Module)) else []
    place = next((i for i, each in enumerate(rest) if each is statement), len(rest))
    return rest[place + 1] if place + 1 < len(rest) else None
