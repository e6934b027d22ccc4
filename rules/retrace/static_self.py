"""JAX108: a jitted method whose cache is keyed on, and keeps, its instance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Related, Severity
from jaxlint.flow.facts import Instantiation, JitCall
from jaxlint.rule import Confidence, Rule

from . import _wording as wording

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_RUN_ONCE = ("", "main", "_main")


class StaticSelf(Rule):
    """A method is jitted with `self` static, or a bound method once for each of several instances."""

    def suspect(self, fact: JitCall) -> bool:
        return _keyed_on_self(fact) or _jits_own_method(fact)

    def check(self, fact: JitCall, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        name = f"`{wording.function_name(fact.boundary)}`"
        if not _keyed_on_self(fact):
            owner = fact.symbol.rpartition(".")[0]
            made = _instances(owner, ctx)
            if _several(made):
                yield self.finding(
                    fact,
                    f"{name} is compiled once for each instance of `{owner}`: every bound method is a new "
                    "function. Jit a plain one that takes what the method reads from `self`.",
                    severity=Severity.INFO,
                    related=_made_here(made),
                )
            return
        owner = fact.boundary.in_class.rpartition(".")[2]
        made = _instances(fact.boundary.in_class, ctx)
        arrays = fact.boundary.self_holds_arrays or any(i.holds_arrays for i in made)
        keeps = f"the cache keeps each one{' and its arrays' if arrays else ''} alive"
        if _several(made):
            message = (
                f"{name} is compiled again for each instance of `{owner}`: `self` is static, and {keeps}."
            )
        elif arrays and not _is_singleton(made):
            message = (
                f"{name} is compiled for each instance of `{owner}` alone: `self` is static, and {keeps}."
            )
        else:
            return
        yield self.finding(
            fact,
            f"{message} {_remedy(fact)}",
            confidence=Confidence.HIGH if _several(made) else Confidence.MEDIUM,
            related=_made_here(made),
        )


def _keyed_on_self(fact: JitCall) -> bool:
    """A decorated method of a plain class: `filter_jit`, too, treats an instance of one as static."""
    boundary = fact.boundary
    static = boundary.static_self or boundary.flavour == "filter"
    return bool(boundary.in_class) and static and boundary.self_hashing == "identity"


def _jits_own_method(fact: JitCall) -> bool:
    kept = fact.boundary.fresh == "bound method" and fact.kept
    return kept and fact.boundary.flavour != "filter" and fact.symbol.endswith(".__init__")


def _instances(class_name: str, ctx: Context) -> list[Instantiation]:
    return [i for i in ctx.facts(Instantiation) if i.class_name == class_name and i.proof.level == "eager"]


def _several(made: Sequence[Instantiation]) -> bool:
    again = any(i.in_loop or i.proof.repeated is not None for i in made)
    return again or len({i.place for i in made}) > 1


def _is_singleton(made: Sequence[Instantiation]) -> bool:
    return len({i.place for i in made}) == 1 and made[0].symbol in _RUN_ONCE


def _made_here(made: Sequence[Instantiation]) -> list[Related]:
    return [Related(place, "an instance is made here") for place in dict.fromkeys(i.place for i in made)][:3]


def _remedy(fact: JitCall) -> str:
    if fact.boundary.flavour == "filter":
        return "Make the class an `eqx.Module`."
    return (
        "Jit a function of the arrays, or make the class a pytree (an `eqx.Module`, or registered with jax)."
    )
