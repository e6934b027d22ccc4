"""JAX312: pmap keeps a full copy of the state on every device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Place, Related
from jaxlint.flow.facts import BoundaryUse, Fact, JitCall, ModuleRole, Replication
from jaxlint.rule import Confidence, Rule

if TYPE_CHECKING:
    from jaxlint.context import Context

_ADVICE = "With `jax.jit` and a `NamedSharding` large parts can be split over the devices instead of copied."


class PmapReplication(Rule):
    """A state is copied to each device, along a leading axis for pmap."""

    def suspect_copy(self, fact: Replication) -> bool:
        return True

    def check_copy(self, fact: Replication, ctx: Context) -> Iterator[Finding]:
        if ctx.role is ModuleRole.TEST or fact.place != _first(ctx.facts(Replication), ctx):
            return
        what = f"`{fact.name}`" if fact.name else "The state"
        pmapped = [call for call in ctx.facts(JitCall) if call.boundary.flavour == "pmap"]
        yield self.finding(
            fact,
            f"{what} is copied to every device in full. {_ADVICE}",
            related=[Related(call.boundary.place, "for this pmap") for call in pmapped[:1]],
        )

    def suspect(self, fact: JitCall) -> bool:
        return fact.boundary.flavour == "pmap"

    def check(self, fact: JitCall, ctx: Context) -> Iterator[Finding]:
        if ctx.role is ModuleRole.TEST or _first(ctx.facts(Replication), ctx) is not None:
            return
        pmaps = [call for call in ctx.facts(JitCall) if call.boundary.flavour == "pmap"]
        carrying = [call for call in pmaps if _broadcasts(call, ctx) or _carries(call, ctx)]
        if fact.place != _first(carrying, ctx):
            return
        uses = [use for use in ctx.facts(BoundaryUse) if use.boundary.place == fact.boundary.place]
        yield self.finding(
            fact,
            f"`pmap` keeps a full copy of what every device needs, on each of them. {_ADVICE}",
            confidence=Confidence.MEDIUM,
            related=[Related(use.place, "the state goes round here") for use in uses if use.rebinds][:1],
        )


def _first(facts: Sequence[Fact], ctx: Context) -> Place | None:
    """The first place in this file, None without one: one finding a file is enough."""
    return min((fact.place for fact in facts if fact.place.path == ctx.path), default=None)


def _broadcasts(call: JitCall, ctx: Context) -> bool:
    """`in_axes=(None, 0)`: an argument goes to each device as it is."""
    text = ctx.text(call.place)
    return "None" in text.partition("in_axes")[2]


def _carries(call: JitCall, ctx: Context) -> bool:
    """`state = step(state, …)`: each device keeps a state."""
    return any(use.rebinds for use in ctx.facts(BoundaryUse) if use.boundary.place == call.boundary.place)
