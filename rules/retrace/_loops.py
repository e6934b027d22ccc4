"""The loops of a program that lead to what a fact says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlint.finding import Place
from jaxlint.flow.facts import Fact

if TYPE_CHECKING:
    from jaxlint.context import Context


def loop_around(place: Place | None, ctx: Context) -> Place | None:
    """The innermost loop around an expression of this file."""
    import libcst as cst

    node = ctx.node(place) if place is not None else None
    if node is None:
        return None
    loop = next((p for p in ctx.parents(node) if isinstance(p, (cst.For, cst.While, cst.BaseComp))), None)
    return Place(ctx.path, ctx.span(loop)) if loop is not None else None


def way(fact: Fact) -> list[Place]:
    """The calls that lead to what a fact is about, and its own place."""
    return [*(step.place for step in fact.proof.chain), fact.place]


def inside(fact: Fact, loop: Place) -> bool:
    """Whether the loop leads to it."""
    return any(loop.contains(place) for place in way(fact))
