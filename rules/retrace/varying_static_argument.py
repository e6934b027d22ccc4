"""JAX102: a static argument takes a new value in each round of a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Finding, Fix
from jaxlint.flow.facts import BoundaryUse
from jaxlint.rule import Rule

from . import _wording as wording
from ._jit_call import without
from ._narrow import fits
from ._varying import Varying, already_compiled, confidence, proven, varying

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_POSITIONS = ("static_argnums", "static_broadcasted_argnums")
_KEYWORDS = (*_POSITIONS, "static_argnames")


class VaryingStaticArgument(Rule):
    """A Python scalar that changes from call to call stands at a static position."""

    def suspect(self, fact: BoundaryUse) -> bool:
        return fact.proof.level == "eager" and bool(_found(fact))

    def check(self, fact: BoundaryUse, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        found = proven(_found(fact), node, ctx)
        if not found or already_compiled(fact, found, ctx):
            return
        names = [wording.value(fact, each.argument, each.leaf, ctx) for each in found]
        yield self.finding(
            fact,
            f"{wording.callee(fact.boundary, node, ctx)} is compiled again for every value of "
            f"{wording.listing(names)}: {'they are' if len(names) > 1 else 'it is'} passed as static. "
            f"{_remedy(found)}",
            place=found[0].argument.place,
            confidence=confidence(fact, found),
            related=wording.trail(fact, [each.leaf for each in found]),
            fix=_fix(fact, found, ctx),
        )


def _found(fact: BoundaryUse) -> list[Varying]:
    return varying(fact, (argument for argument in fact.arguments if fact.is_static(argument)))


def _remedy(found: list[Varying]) -> str:
    if any(each.text for each in found):
        return "Keep to a few fixed names, or pass an index array."
    needed = next((each.python_use for each in found if each.python_use), "")
    if needed:
        return f"The body needs a Python number ({needed}): round it up to a few values and mask the rest."
    return "Take it out of the static ones: jax traces Python numbers."


def _fix(fact: BoundaryUse, found: list[Varying], ctx: Context) -> Fix | None:
    """Take the parameters out of the static ones, where the body is known to work with traced ones."""
    import libcst as cst

    node = ctx.node(fact.boundary.place)
    if fact.boundary.flavour == "pmap" or not all(each.takes_array for each in found):
        return None  # pmap would map a traced argument over the devices
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Call):  # partial(jax.jit, …)(f)
        node = node.func
    if not isinstance(node, cst.Call):
        return None
    traced = {each.argument.parameter for each in found} | {each.argument.index for each in found}
    text = without(node, _KEYWORDS, traced, ctx)
    if text is None:
        return None
    names = wording.listing(each.argument.parameter or "the argument" for each in found)
    narrow = all(fits(ctx.text(each.leaf.place), ctx.focus.tree) for each in found)
    kind = Applicability.UNSAFE if narrow else Applicability.DISPLAY
    return Fix(f"Trace {names} instead", kind, (ctx.replace(node, text),))
