"""JAX106: an array that a concatenation makes longer each time reaches a boundary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Finding, Fix, Related
from jaxlint.flow.facts import Growth, Guard, ModuleRole
from jaxlint.rule import Confidence, Rule, Severity

from . import _wording as wording

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context


class GrowingState(Rule):
    """A concatenation is stored where one of its parts came from, in a loop, and passed to a jitted function."""

    def suspect(self, fact: Growth) -> bool:
        again = fact.loop is not None or fact.proof.repeated is not None
        return again and fact.proof.level == "eager"

    def check(self, fact: Growth, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        callee = f"`{wording.function_name(fact.boundary)}`"
        loop = fact.loop or fact.proof.repeated
        inside = fact.boundary.definition is not None and fact.boundary.definition.path == ctx.path
        yield self.finding(
            fact,
            f"`{fact.name}` is longer in every round, and {callee} is compiled again for every length. Allocate it "
            "once for the longest and write into it: `.at[i].set(…)`, with a mask or a length.",
            severity=Severity.INFO if ctx.role is ModuleRole.TEST else None,
            confidence=Confidence.HIGH if fact.proof.guard is Guard.NONE else Confidence.MEDIUM,
            related=[
                Related(fact.use, f"{callee} is called with it here"),
                *([Related(loop, "the loop")] if loop is not None else []),
                *([Related(fact.boundary.place, "jitted here")] if inside else []),
            ],
            fix=_fix(fact, node, ctx),
        )


def _fix(fact: Growth, node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """The write in place, to paste; how many there can be at most and how many there are is the user's to say."""
    import libcst as cst

    if not isinstance(node, cst.Call) or not node.args:
        return None
    first = node.args[0].value
    added: cst.BaseExpression | None = None
    if isinstance(first, (cst.List, cst.Tuple)) and len(first.elements) == 2:
        old, new = (element.value for element in first.elements)
        added = new if ctx.focus.code(old) == fact.name else None
    elif len(node.args) > 1 and node.args[1].keyword is None and ctx.focus.code(first) == fact.name:
        added = node.args[1].value
    if added is None:
        return None
    text = f"{fact.name}.at[n_filled].set({ctx.focus.code(added)})"
    return Fix("Write into an array of full length", Applicability.DISPLAY, (ctx.replace(node, text),))
