"""JAX301: a step writes its new state beside the old one, which nobody needs any more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Related
from jaxlint.flow.facts import Boundary, BoundaryUse, Guard, JitCall, Kind, ModuleRole, Operand, Tag
from jaxlint.rule import Confidence, Rule, Severity

from ..retrace import _wording as wording
from . import _donation as donation

if TYPE_CHECKING:
    from jaxlint.context import Context

_KEYS = frozenset({"key", "keys", "rng", "rngs", "prng", "seed"})
_EVALUATION = frozenset({"eval", "evaluate", "evaluation", "validate", "validation", "predict", "infer"})
# Not in device memory: an array of numpy is copied there for each call, and the copy goes with the call.
_OFF_DEVICE = frozenset({Kind.SCALAR, Kind.CONSTANT, Kind.SHAPE, Kind.DTYPE, Kind.FUNCTION, Kind.HOST})


class MissingDonation(Rule):
    """A boundary returns the new value of an argument, gets the old one and donates nothing."""

    def suspect_update(self, fact: JitCall) -> bool:
        called = not (fact.only_lowered or fact.only_traced)
        return fact.boundary.updates and called and _could_donate(fact)

    def check_update(self, fact: JitCall, ctx: Context) -> Iterator[Finding]:
        uses = _calls(fact.boundary, ctx)
        eager = [use for use in uses if use.proof.level == "eager"]
        if uses and not eager:
            return  # only traced code calls it, where donation has no effect
        yield from self._judge(fact, fact.boundary.returns_argument | _replaced_slots(eager), eager, ctx)

    def suspect_rebind(self, fact: BoundaryUse) -> bool:
        repeats = _repeats(fact) and fact.proof.eager
        attribute = any("." in name for name in fact.rebinds)
        # Of a step that updates and is defined here the definition tells: that is `suspect_update`.
        told = fact.boundary.updates and fact.boundary.place.path == fact.place.path
        return (repeats or attribute) and not told and bool(_replaced(fact)) and _could_donate(fact)

    def check_rebind(self, fact: BoundaryUse, ctx: Context) -> Iterator[Finding]:
        uses = _calls(fact.boundary, ctx)
        if fact == next(filter(self.suspect_rebind, uses), None):  # one finding per boundary
            yield from self._judge(fact, _replaced_slots([fact]), uses, ctx)

    def _judge(
        self,
        fact: JitCall | BoundaryUse,
        replaced: Iterable[donation.Slot],
        uses: Sequence[BoundaryUse],
        ctx: Context,
    ) -> Iterator[Finding]:
        boundary = fact.boundary
        static = boundary.static or frozenset()
        slots = donation.ordered(boundary, {s for s in replaced if s not in static and not _is_key(str(s))})
        if not slots or _needs_old_state(uses, slots):
            return
        if ctx.role is ModuleRole.TEST or _donates_elsewhere(boundary, ctx):
            return
        values = [value for use in uses for value in _replaced(use) if donation.slot(value) in slots]
        small = _all_small(uses, slots)
        repeats = fact.proof.eager and any(map(_repeats, uses))
        option = donation.option(boundary, slots, uses, ctx)
        kind = donation.applicability(boundary, slots, uses, ctx)
        yield self.finding(
            fact,
            f"`{wording.function_name(boundary)}` returns a new "
            f"{wording.listing([v.name or '' for v in values] or map(str, slots))} while the old is still in "
            f"memory, because nothing is donated. Donate what the result replaces: `{option}`.",
            place=boundary.place,
            severity=Severity.WARNING if (boundary.updates or repeats) and not small else Severity.INFO,
            confidence=Confidence.HIGH if fact.proof.guard is Guard.NONE else Confidence.MEDIUM,
            related=list(_trail(uses)),
            fix=donation.fix(boundary, option, kind, ctx) if kind is not None else None,
        )


def _could_donate(fact: JitCall | BoundaryUse) -> bool:
    """Donation would work here: outside a trace, at a boundary that knows it and has none yet."""
    boundary = fact.boundary
    evaluates = bool(_words(boundary.function) & _EVALUATION)
    return (
        fact.proof.level == "eager"
        and boundary.flavour in ("jax", "pmap", "filter", "nnx")
        and boundary.donated == frozenset()
        and not evaluates
        # Haiku's `apply` bears the signature of what it transforms: jit refuses the positions beyond (measured).
        and all(parameter.name for parameter in boundary.parameters)
    )


def _calls(boundary: Boundary, ctx: Context) -> list[BoundaryUse]:
    """The calls of a boundary. What else a caller might pass does not count where there are calls in view."""
    uses = [use for use in ctx.facts(BoundaryUse) if use.boundary.place == boundary.place]
    known = {(u.place, v.parameter) for u in uses for v in u.arguments if not _is_open(v)}
    open_ends = (
        any(_is_open(v) and (use.place, v.parameter) in known for v in use.arguments) for use in uses
    )
    return [use for use, open_end in zip(uses, open_ends, strict=True) if not open_end]


def _is_open(value: Operand) -> bool:
    """Nothing is known of it: of what a library makes, the size may be."""
    return value.kind is Kind.UNKNOWN and Tag.SMALL not in value.tags


def _repeats(use: BoundaryUse) -> bool:
    return use.loop is not None or use.proof.repeated is not None


def _replaced(use: BoundaryUse) -> list[Operand]:
    """The array arguments whose names the call's statement binds to the result."""
    return [
        value
        for value in use.arguments
        if value.name in use.rebinds
        and value.kind not in _OFF_DEVICE
        and Tag.ZERO_DIM not in value.tags
        and not _is_key(value.name or "")
    ]


def _all_small(uses: Iterable[BoundaryUse], slots: Sequence[donation.Slot]) -> bool:
    """What the result replaces by name; where nothing is (nnx steps change in place), all that is passed there."""
    reached = {use.place for use in uses if use.proof.chain and not use.proof.by_test}
    # Of a function that is called in view, what it would do by itself says nothing of sizes.
    judged = [use for use in uses if use.proof.chain or use.place not in reached]
    given = [value for use in judged for value in use.arguments if donation.slot(value) in slots]
    replaced = [value for use in judged for value in _replaced(use) if donation.slot(value) in slots]
    passed = replaced or [value for value in given if value.kind not in _OFF_DEVICE]
    return bool(passed) and all(Tag.SMALL in value.tags for value in passed)


def _replaced_slots(uses: Iterable[BoundaryUse]) -> frozenset[donation.Slot]:
    slots = (donation.slot(value) for use in uses for value in _replaced(use))
    return frozenset(slot for slot in slots if slot is not None)


def _needs_old_state(uses: Iterable[BoundaryUse], slots: Sequence[donation.Slot]) -> bool:
    """Some caller reads what the result would replace, or another part of the training state, afterwards."""
    return any(
        donation.slot(value) in slots or Tag.UPDATED in value.tags
        for use in uses
        for value in use.arguments
        if value.name in use.reads_after
    )


def _donates_elsewhere(boundary: Boundary, ctx: Context) -> bool:
    """The same function is also jitted with donation: the choice has been made."""
    others = (call.boundary for call in ctx.facts(JitCall) if call.boundary.function == boundary.function)
    return bool(boundary.function) and any(other.donated != frozenset() for other in others)


def _is_key(name: str) -> bool:
    return bool(_words(name) & _KEYS)


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+", name.rpartition(".")[2].lower()))


def _trail(uses: Iterable[BoundaryUse]) -> Iterator[Related]:
    use = next((use for use in uses if _replaced(use)), None)
    if use is not None:
        yield Related(use.place, "the result replaces the argument here")
        loop = use.loop or use.proof.repeated
        if loop is not None:
            yield Related(loop, "runs again here")
