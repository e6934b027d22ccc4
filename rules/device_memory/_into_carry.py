"""The worked suggestion of JAX303: a scan that carries what its stack is reduced to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from jaxlint.finding import Edit, Fix
from jaxlint.flow.facts import Scan

if TYPE_CHECKING:
    from jaxlint.context import Context

_KEPT = "kept"
_BINDS_TIGHTER = (cst.Multiply, cst.Divide, cst.MatrixMultiply, cst.Power)  # than the `+` before it
_STAND_ALONE = (cst.Return, cst.Assign, cst.Arg, cst.Element)


def into_carry(
    fact: Scan, call: cst.Call, body: cst.FunctionDef, result: cst.Tuple, ctx: Context
) -> Fix | None:
    """The body with one more member in its carry; the shape that this starts with is the user's to say.

    None where the whole change cannot be shown: every use of the stack must be `[-1]`, or the one use the sum or
    mean of it over its first axis or over all.
    """
    zeros = ctx.spell("jax.numpy.zeros")
    uses = _without_stack(fact, ctx)
    target = _pair(call, ctx)
    if zeros is None or uses is None or target is None or not _is_plain(call, body):
        return None
    start, carry = call.args[1], body.params.params[0].name
    names = ctx.focus.code(body)
    both = next(name for name in ("carry", "both", "members") if name not in names)
    if _KEPT in names:
        return None
    first, value = (element.value for element in result.elements)
    statement = body.body.body[0]
    indent = ctx.indent(statement)
    code = ctx.focus.code
    new = code(value) if fact.stack == "last" else f"{_KEPT} + {_as_addend(value, ctx)}"
    return ctx.suggest(
        "Keep it in the carry",
        ctx.replace(carry, both),
        ctx.insert_before(statement, f"{carry.value}, {_KEPT} = {both}\n{indent}"),
        ctx.replace(result, f"({code(first)}, {new}), None"),
        ctx.replace(start.value, f"({code(start.value)}, {zeros}(SHAPE))"),
        ctx.replace(target, f"({', '.join(code(element.value) for element in target.elements)}), _"),
        *uses,
    )


def _is_plain(call: cst.Call, body: cst.FunctionDef) -> bool:
    """`scan(body, start, …)` of a body that is written out. Of a partial, the carry is another parameter."""
    return (
        len(call.args) >= 2
        and isinstance(call.args[0].value, cst.Name)
        and call.args[1].keyword is None
        and not call.args[1].star
        and bool(body.params.params)
        and isinstance(body.body, cst.IndentedBlock)
    )


def _pair(call: cst.Call, ctx: Context) -> cst.Tuple | None:
    """`carry, ys` of `carry, ys = scan(…)`."""
    assign = next(ctx.parents(call), None)
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return None
    target = assign.targets[0].target
    return target if isinstance(target, cst.Tuple) and len(target.elements) == 2 else None


def _as_addend(value: cst.BaseExpression, ctx: Context) -> str:
    text = ctx.focus.code(value)
    simple = isinstance(value, (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BaseNumber))
    product = isinstance(value, cst.BinaryOperation) and isinstance(value.operator, _BINDS_TIGHTER)
    return text if simple or product or value.lpar else f"({text})"


def _without_stack(fact: Scan, ctx: Context) -> list[Edit] | None:
    """The uses of the stack as uses of what is kept in its place, under its name."""
    name, nodes = fact.assigned[1], [ctx.node(use) for use in fact.uses]
    if not name or not fact.only_uses:
        return None
    if fact.stack == "last":
        if not all(isinstance(node, cst.Subscript) and ctx.focus.code(node.value) == name for node in nodes):
            return None
        return [ctx.replace(node, name) for node in nodes if node is not None]
    node = nodes[0]
    if len(nodes) != 1 or not isinstance(node, cst.Call):
        return None
    reduced = _reduced(fact, node, name, ctx)
    return None if reduced is None else [ctx.replace(node, reduced)]


def _reduced(fact: Scan, use: cst.Call, name: str, ctx: Context) -> str | None:
    """What stays of `ys.sum(axis=0)` or `jnp.mean(ys)` once the sum over the steps is at hand."""
    code = ctx.focus.code
    others = list(use.args)
    own = isinstance(use.func, cst.Attribute) and code(use.func.value) == name
    if not own and (not others or code(others.pop(0).value) != name):
        return None
    if len(others) > 1 or any(a.keyword is not None and a.keyword.value != "axis" for a in others):
        return None  # `where`, `keepdims`, a dtype
    along = bool(others) and code(others[0].value) == "0"
    left = name if along else code(use)
    if fact.reducer == "sum":
        return left
    divided = f"{left} / {fact.length or 'LENGTH'}"
    return divided if isinstance(next(ctx.parents(use), None), _STAND_ALONE) else f"({divided})"
