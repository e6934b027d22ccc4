"""JAX105: an array whose size depends on the data reaches a boundary again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Finding, Fix, Place, Related
from jaxlint.flow.facts import BoundaryUse, Guard, Kind, Operand, Tag, Varies
from jaxlint.rule import Confidence, Rule

from . import _wording as wording

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
            _place(o) for use in ctx.facts(BoundaryUse) if use.place < fact.place for o in _data_shaped(use)
        }
        for operand in _data_shaped(fact):
            place = _place(operand)
            if place in said:
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
    """The traced leaves whose shape depends on data that is new for each call."""
    traced = [argument for argument in fact.arguments if not fact.is_static(argument)]
    leaves = [leaf for argument in traced for leaf in argument.walk() if not leaf.leaves]
    return [
        leaf
        for leaf in leaves
        if Tag.DATA_SHAPE in leaf.tags and leaf.kind not in _NUMBERS and leaf.varies is Varies.PER_ITERATION
    ]


def _place(operand: Operand) -> Place:
    """Where the value was made."""
    return operand.origin if operand.origin is not None else operand.place


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
