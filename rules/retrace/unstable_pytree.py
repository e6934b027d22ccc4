"""JAX110: an argument is not the same tree in every round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Fix, Related
from jaxlint.flow.facts import Guard, ModuleRole, UnstableStructure
from jaxlint.rule import Confidence, Rule, Severity

from . import _wording as wording

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

# What is said of a name, and what to do about it.
_SAID = {
    "none": ("is None at first and something else from then on", "Start with an array of its shape."),
    "keys": ("has other keys from the second call on", "Start with all of them."),
    "length": ("has another length from the second call on", "Start with what it will hold."),
    "empty": ("is empty at first and filled from then on", "Start with what it will hold."),
    "optional key": ("is there in some rounds only", "Put a neutral value there in the others."),
    "optional value": ("is None in some rounds", "Pass a neutral value instead."),
    "filling": (
        "has fewer members in the first rounds",
        "Begin with a full window, and mask what is missing.",
    ),
    "growing": ("is longer in every round", "Keep it in one array of full length, with a count."),
}
_ALTERNATING = ("optional key", "optional value")


class UnstablePytree(Rule):
    """The structure of an argument differs from call to call."""

    def suspect(self, fact: UnstableStructure) -> bool:
        again = fact.loop is not None or fact.proof.repeated is not None
        return again and fact.proof.level == "eager"

    def check(self, fact: UnstableStructure, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        callee = f"`{wording.function_name(fact.boundary)}`"
        what, remedy = _SAID[fact.how]
        times = "again for every length" if fact.how in ("growing", "filling") else "once for each form"
        loop = fact.loop or fact.proof.repeated
        # Two forms may be meant: that costs one compilation more, once.
        mild = fact.how in _ALTERNATING or ctx.role is ModuleRole.TEST
        yield self.finding(
            fact,
            f"`{fact.name}` {what}, and {callee} is compiled {times}: the structure of arguments is part of the "
            f"cache key. {remedy}",
            severity=Severity.INFO if mild else None,
            confidence=Confidence.HIGH if fact.proof.guard is Guard.NONE else Confidence.MEDIUM,
            related=[
                Related(fact.use, f"{callee} is called with it here"),
                Related(fact.boundary.place, "jitted here"),
                *([Related(loop, "the loop")] if loop is not None else []),
            ],
            fix=_filled(fact, node, ctx),
        )


def _filled(fact: UnstableStructure, node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """An array in the place of None; its shape is the user's to say."""
    import libcst as cst

    zeros = ctx.spell("jax.numpy.zeros")
    if fact.how != "none" or zeros is None or not (isinstance(node, cst.Name) and node.value == "None"):
        return None
    return ctx.suggest("Start with an array", ctx.replace(node, f"{zeros}(SHAPE)"))
