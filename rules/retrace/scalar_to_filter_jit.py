"""JAX101: a Python number that varies reaches a boundary that treats it as static."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Finding, Fix, Related
from jaxlint.flow.facts import BoundaryUse, FieldStore, Instantiation, JitCall, Kind, Operand
from jaxlint.rule import Rule

from . import _wording as wording
from ._loops import inside
from ._narrow import fits
from ._varying import Varying, already_compiled, confidence, proven, varying

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context


class ScalarToFilterJit(Rule):
    """A Python number changes from call to call of a boundary that keys its cache on it."""

    def suspect(self, fact: BoundaryUse) -> bool:
        eager = fact.boundary.flavour == "filter" and fact.proof.level == "eager"
        return eager and bool(varying(fact, fact.arguments))

    def check(self, fact: BoundaryUse, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        found = proven(varying(fact, fact.arguments), node, ctx)
        if not found or already_compiled(fact, found, ctx):
            return
        names = [wording.value(fact, each.argument, each.leaf, ctx) for each in found]
        kind = "string" if found[0].text else "number"
        yield self.finding(
            fact,
            f"{wording.callee(fact.boundary, node, ctx)} is compiled again for every value of "
            f"{wording.listing(names)}: {wording.api_name(fact.boundary, ctx)} treats a Python {kind} as "
            f"static. {_remedy(fact, found, names, ctx)}",
            place=found[0].argument.place,
            confidence=confidence(fact, found),
            related=wording.trail(fact, [each.leaf for each in found]),
            fix=_fix(fact, found, ctx),
        )

    def suspect_field(self, fact: FieldStore) -> bool:
        value = fact.value
        if fact.family != "nnx" or value.kind not in (Kind.CONSTANT, Kind.SCALAR, Kind.SHAPE):
            return False
        return fact.proof.level != "eager" or fact.in_loop

    def check_field(self, fact: FieldStore, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        owner = fact.owner.name or "module"
        if fact.proof.level == "eager":
            changes = fact.value.varying_scalar or _counts(node, ctx)
            uses = [use for use in ctx.facts(BoundaryUse) if changes and _takes_module(use, fact, ctx)]
            related = [Related(use.place, f"`{owner}` is handed over here") for use in uses[:1]]
        elif _counts(node, ctx):
            makers = [j for j in ctx.facts(JitCall) if j.place == fact.proof.why_traced]
            related = [Related(j.place, "jitted here") for j in makers if j.boundary.flavour == "nnx"][:1]
        else:
            related = []
        if related:
            yield self.finding(
                fact,
                f"Each change of `{owner}.{fact.field}` makes `nnx.jit` compile again: plain numbers of a "
                "module are part of its graph definition. Keep it in an `nnx.Variable`.",
                related=related,
            )


def _counts(stored: cst.CSTNode | None, ctx: Context) -> bool:
    """Whether a stored field is made from its old value: `self.n += 1`, `self.n = self.n + 1`."""
    import libcst as cst

    statement = (
        next((p for p in ctx.parents(stored) if isinstance(p, cst.BaseSmallStatement)), None)
        if stored
        else None
    )
    if isinstance(statement, cst.Assign):
        target = ctx.focus.code(statement.targets[0].target)
        return target in ctx.focus.code(statement.value)
    return isinstance(statement, cst.AugAssign)


def _takes_module(use: BoundaryUse, fact: FieldStore, ctx: Context) -> bool:
    """Whether a boundary is handed the module of which a field was stored, again and again."""
    if use.boundary.flavour != "nnx" or use.proof.level != "eager":
        return False
    owner = fact.owner
    if (
        fact.in_loop
        and use.symbol == fact.symbol
        and any(a.name == owner.name for a in use.arguments if a.name)
    ):
        return True
    if not any(a.class_name == owner.class_name for a in use.arguments):
        return False
    if fact.proof.repeated is not None and owner.name == "self":  # changed by a method of its own
        return True
    return fact.loop is not None and inside(use, fact.loop) and _is_the_only_one(owner, ctx)


def _is_the_only_one(owner: Operand, ctx: Context) -> bool:
    """Whether the class has one instance in view: what is handed over is what was changed."""
    made = [i for i in ctx.facts(Instantiation) if i.class_name == owner.class_name]
    return len({i.place for i in made}) == 1 and not any(i.in_loop for i in made)


def _mapped(fact: BoundaryUse) -> bool:
    """Whether an array argument would be mapped over the devices."""
    return fact.boundary.api.endswith("pmap")


def _remedy(fact: BoundaryUse, found: list[Varying], names: list[str], ctx: Context) -> str:
    if any(each.text for each in found):
        return "Pass an index array, or keep to a few fixed names."
    needed = next((each.python_use for each in found if each.python_use), "")
    if needed:
        return f"Its body needs a Python number ({needed}): round it up to a few sizes and mask the rest."
    if not all(wording.written(fact, each.argument, each.leaf) for each in found):
        alone = all(each.leaf is each.argument for each in found)
        return "Pass it as an array." if alone else "Make it an array where it is stored."
    asarray = ctx.spell("jax.numpy.asarray") or "jnp.asarray"
    arrays = wording.listing(f"{asarray}({name})" for name in names)
    return f"Pass {arrays} with `in_axes=None`." if _mapped(fact) else f"Pass {arrays}."


def _fix(fact: BoundaryUse, found: list[Varying], ctx: Context) -> Fix | None:
    imported = ctx.importing("jax.numpy.asarray")
    if imported is None or _mapped(fact) or any(each.python_use or each.text for each in found):
        return None
    leaves = [each.leaf.place for each in found if wording.written(fact, each.argument, each.leaf)]
    nodes = [node for place in leaves if (node := ctx.node(place)) is not None]
    if len(nodes) < len(found):
        return None
    asarray, imports = imported
    edits = tuple(ctx.replace(node, f"{asarray}({ctx.focus.text(ctx.span(node))})") for node in nodes)
    certain = all(each.takes_array for each in found) and all(
        fits(ctx.focus.text(ctx.span(node)), ctx.focus.tree) for node in nodes
    )
    return Fix(
        "Pass it as an array", Applicability.UNSAFE if certain else Applicability.DISPLAY, (*edits, *imports)
    )
