"""JAX105: an array whose size depends on the data reaches a boundary again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Finding, Fix, Place, Related
from jaxlint.flow.facts import BoundaryUse, Guard, Kind, Operand, Tag
from jaxlint.rule import Confidence, Rule

from . import _wording as wording
from ._hoist import changed_in, free_names

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

# numpy functions that jax.numpy offers with a `size`
_SIZED = frozenset(
    {"nonzero", "flatnonzero", "argwhere", "unique", "where", "union1d", "intersect1d", "setdiff1d"}
)

_NUMBERS = (Kind.CONSTANT, Kind.SCALAR, Kind.SHAPE)


class DataDependentShapeArgument(Rule):
    """The result of `nonzero`, a boolean mask or a host filter is an argument, in a loop."""

    def suspect(self, fact: BoundaryUse) -> bool:
        again = fact.loop is not None or fact.proof.repeated is not None
        return again and fact.proof.level == "eager" and bool(_data_shaped(fact))

    def check(self, fact: BoundaryUse, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        said = {
            _place(o, fact)
            for use in ctx.facts(BoundaryUse)
            if use.place < fact.place
            for o in _data_shaped(use)
        }
        for operand in _data_shaped(fact):
            place = _place(operand, fact)
            if place in said or not _made_again(fact, operand, node, ctx):
                continue
            said.add(place)
            made = ctx.text(place) or operand.name or "The argument"
            callee = wording.callee(fact.boundary, node, ctx)
            loop = fact.loop or fact.proof.repeated
            yield self.finding(
                fact,
                f"The size of `{made}` depends on the data: {callee} is compiled again for each new size. "
                "Give it one size: pad it and mask the rest, or use `size=`.",
                place=place,
                confidence=Confidence.MEDIUM if fact.proof.guard is not Guard.NONE else Confidence.HIGH,
                related=[
                    Related(fact.place, f"{callee} is called with it here"),
                    *([Related(loop, "runs again here")] if loop is not None else []),
                    Related(fact.boundary.place, "jitted here"),
                ],
                fix=_fix(ctx.node(place), ctx),
            )


def _data_shaped(fact: BoundaryUse) -> list[Operand]:
    """The traced leaves of data-dependent shape."""
    traced = [argument for argument in fact.arguments if not fact.is_static(argument)]
    leaves = [leaf for argument in traced for leaf in argument.walk() if not leaf.leaves]
    return [leaf for leaf in leaves if Tag.DATA_SHAPE in leaf.tags and leaf.kind not in _NUMBERS]


def _place(operand: Operand, fact: BoundaryUse) -> Place:
    """Where the value was made, if in this file."""
    origin = operand.origin
    return origin if origin is not None and origin.path == fact.place.path else operand.place


def _made_again(fact: BoundaryUse, operand: Operand, node: cst.CSTNode | None, ctx: Context) -> bool:
    """Whether another array is made for the next call: in the loop, or in the function that runs again."""
    import libcst as cst

    origin = _place(operand, fact)
    loops = [place for place in (fact.loop, fact.proof.repeated) if place is not None]
    if any(loop.contains(origin) for loop in loops):
        return True
    scopes = [ctx.node(loop) for loop in loops]
    if node is not None and fact.proof.repeated is not None and fact.proof.repeated != fact.loop:
        scopes.append(next((p for p in ctx.parents(node) if isinstance(p, cst.FunctionDef)), None))
    passed = free_names(ctx.text(operand.place)) or set()
    changed = (changed_in(scope, ctx) for scope in scopes if isinstance(scope, cst.BaseCompoundStatement))
    return any(passed & names.keys() for names in changed if names)


def _fix(node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """The same with `size=`, to paste: how many there can be and what the rest means is the user's to say."""
    import libcst as cst

    jnp = ctx.spell("jax.numpy")
    if node is None or jnp is None:
        return None
    if isinstance(node, cst.Call):
        name = ctx.focus.code(node.func).rpartition(".")[2]
        if name not in _SIZED:
            return None
        arguments = ", ".join(
            ctx.focus.code(a.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for a in node.args
        )
        text = f"{jnp}.{name}({arguments}, size=N_MAX)"
    elif isinstance(node, cst.Subscript) and len(node.slice) == 1:
        mask = ctx.focus.code(node.slice[0].slice)
        text = f"{ctx.focus.code(node.value)}[{jnp}.nonzero({mask}, size=N_MAX)[0]]"
    else:
        return None
    return Fix("Give it one size, N_MAX", Applicability.DISPLAY, (ctx.replace(node, text),))
