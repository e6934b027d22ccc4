"""JAX104: the shape of an argument is another one each time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Fix
from jaxlint.flow.facts import BoundaryUse, Guard, Kind, ModuleRole, Operand, Tag, Varies
from jaxlint.rule import Confidence, Rule, Severity

from . import _wording as wording
from ._varying import varying

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_FEW = "few sizes"
_PARTIAL = ("last partial batch", "possibly partial batch")
_UNEVEN = ("uneven parts", "possibly uneven parts")
_PERHAPS = (_PARTIAL[1], _UNEVEN[1])
_NUMBERS = (Kind.CONSTANT, Kind.SCALAR, Kind.SHAPE)
_OTHERWISE = Tag.DATA_SHAPE | Tag.GROWN  # what JAX105 and JAX106 speak of


class VaryingShapeArgument(Rule):
    """A slice, a size or a list whose length changes reaches a jitted function, again and again."""

    def suspect(self, fact: BoundaryUse) -> bool:
        again = fact.loop is not None or fact.proof.repeated is not None
        return again and fact.proof.level == "eager" and bool(_ragged(fact))

    def check(self, fact: BoundaryUse, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        found = [(a, leaf) for a, leaf in _ragged(fact) if not _is_asked_for(a, fact, ctx)]
        if not found or varying(fact, (a for a in fact.arguments if fact.is_static(a))):
            return  # a static argument that goes with it is JAX102
        leaves = [leaf for _, leaf in found]
        if any(u.place < fact.place and u.hands_over(fact, leaves) for u in ctx.facts(BoundaryUse)):
            return  # compiled by an earlier call of the round
        argument, leaf = found[0]
        callee = wording.callee(fact.boundary, node, ctx)
        value = wording.value(fact, argument, leaf, ctx)
        yield self.finding(
            fact,
            _message(callee, value, leaf),
            place=argument.place,
            severity=_severity(leaf, ctx),
            confidence=_confidence(fact, leaf),
            related=wording.trail(fact, leaves[:1]),
            fix=_padded(fact, argument, leaf, ctx),
        )


def _ragged(fact: BoundaryUse) -> list[tuple[Operand, Operand]]:
    """(argument, leaf) of the traced arrays whose shape is new each time."""
    traced = [argument for argument in fact.arguments if not fact.is_static(argument)]
    return [
        (argument, leaf)
        for argument in traced
        for leaf in argument.walk()
        if Tag.RAGGED in leaf.tags
        and not leaf.tags & _OTHERWISE
        and leaf.kind not in (*_NUMBERS, Kind.TREE)
        and leaf.varies is Varies.PER_ITERATION
        and leaf.origin_kind != _FEW
        # "[...]" is any member of a list: those of one list differ, the list need not
        and ("[...]" not in leaf.path or Tag.TOGETHER in leaf.tags)
    ]


def _is_asked_for(argument: Operand, fact: BoundaryUse, ctx: Context) -> bool:
    """Whether the loop around tests the length of the argument: it treats another one in a way of its own."""
    name = re.escape(argument.name or "")
    loop = ctx.text(fact.loop) if fact.loop is not None else ""
    return bool(name) and re.search(rf"\bif [^:]*(len\({name}\)|\b{name}\.(shape|size))", loop) is not None


def _message(callee: str, value: str, leaf: Operand) -> str:
    if leaf.origin_kind in _PARTIAL:
        may = "may be" if leaf.origin_kind == _PARTIAL[1] else "is"
        return (
            f"The last `{value}` {may} shorter than the others, and {callee} is compiled once more for it. "
            "Drop the remainder, or pad it and mask."
        )
    if leaf.origin_kind in _UNEVEN:
        may = "may be" if leaf.origin_kind == _UNEVEN[1] else "are"
        return (
            f"The first parts that `array_split` gives {may} longer by one than the others, and {callee} is "
            f"compiled for either length of `{value}`. Drop the remainder, or pad it and mask."
        )
    return (
        f"{callee} is compiled again for every length of `{value}`. Round lengths up to a few sizes, pad to them "
        "and mask the rest."
    )


def _severity(leaf: Operand, ctx: Context) -> Severity | None:
    return Severity.INFO if leaf.origin_kind in _PERHAPS or ctx.role is ModuleRole.TEST else None


def _confidence(fact: BoundaryUse, leaf: Operand) -> Confidence:
    sure = fact.proof.guard is Guard.NONE and leaf.origin_kind not in _PERHAPS
    return Confidence.HIGH if sure else Confidence.MEDIUM


def _padded(fact: BoundaryUse, argument: Operand, leaf: Operand, ctx: Context) -> Fix | None:
    """The argument padded to one length; how long that is, and what the rest means, is the user's to say."""
    import libcst as cst

    node = ctx.node(leaf.place) if wording.written(fact, argument, leaf) else None
    pad = ctx.spell("jax.numpy.pad")
    if not isinstance(node, (cst.Name, cst.Attribute)) or pad is None:
        return None
    text = ctx.focus.code(node)
    padded = f"{pad}({text}, [(0, N_MAX - len({text}))] + [(0, 0)] * ({text}.ndim - 1))"
    return ctx.suggest("Pad to one length, N_MAX, and mask the rest", ctx.replace(node, padded))
