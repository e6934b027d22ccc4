"""JAX102: a static argument takes a new value in each round of a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Finding, Fix
from jaxlint.flow.facts import BoundaryUse
from jaxlint.rule import Rule

from . import _wording as wording
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
        names = [wording.value(each.argument, each.leaf, ctx) for each in found]
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
    if not isinstance(node, cst.Call) or "#" in ctx.focus.text(ctx.span(node)):
        return None
    traced = {each.argument.parameter for each in found} | {each.argument.index for each in found}
    arguments = [_without(argument, traced, ctx) for argument in node.args]
    if None in arguments:
        return None
    names = wording.listing(each.argument.parameter or "the argument" for each in found)
    text = _call(ctx.focus.code(node.func), [argument for argument in arguments if argument])
    return Fix(f"Trace {names} instead", Applicability.UNSAFE, (ctx.replace(node, text),))


def _without(argument: cst.Arg, traced: set[str | int | None], ctx: Context) -> str | None:
    """An argument of the jit call without some static entries: "" when none is left, None if not literal."""
    import ast

    import libcst as cst

    code = ctx.focus.code(argument.with_changes(comma=cst.MaybeSentinel.DEFAULT))
    if argument.keyword is None or argument.keyword.value not in _KEYWORDS:
        return code
    try:
        listed = ast.literal_eval(ctx.focus.code(argument.value))
    except ValueError:
        return None
    entries = listed if isinstance(listed, (tuple, list)) else (listed,)
    kept = tuple(entry for entry in entries if entry not in traced)
    if len(kept) == len(entries):
        return code
    shown = ", ".join(f'"{entry}"' if isinstance(entry, str) else str(entry) for entry in kept)
    single = "," if len(kept) == 1 else ""
    return f"{argument.keyword.value}=({shown}{single})" if kept else ""


def _call(function: str, arguments: list[str]) -> str:
    """The jit call with these arguments, as short as they allow."""
    if not arguments:
        return function  # `@jax.jit()` is `@jax.jit`
    if len(arguments) == 1 and function.rpartition(".")[2] == "partial":
        return arguments[0]
    return f"{function}({', '.join(arguments)})"
