"""JAX108: a jitted method whose cache is keyed on, and keeps, its instance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from jaxlint.finding import Edit, Finding, Fix, Place, Related, Severity, Span
from jaxlint.flow.facts import Instantiation, JitCall
from jaxlint.rule import Confidence, Rule

from . import _wording as wording

if TYPE_CHECKING:
    from jaxlint.context import Context

_RUN_ONCE = ("", "main", "_main")


class StaticSelf(Rule):
    """A method is jitted with `self` static, or a bound method once for each of several instances."""

    def suspect(self, fact: JitCall) -> bool:
        return _keyed_on_self(fact) or _jits_own_method(fact)

    def check(self, fact: JitCall, ctx: Context) -> Iterator[Finding]:
        if _keyed_on_self(fact):
            yield from self._check_static(fact, ctx)
            return
        owner = fact.symbol.rpartition(".")[0]
        made = _instances(owner, fact, ctx)
        if _several(made):
            yield self.finding(
                fact,
                f"`{wording.function_name(fact.boundary)}` is compiled once for each instance of `{owner}`: "
                "every bound method is a new function. Jit a plain one that takes what it reads from `self`.",
                severity=Severity.INFO,
                related=_made_here(made),
            )

    def _check_static(self, fact: JitCall, ctx: Context) -> Iterator[Finding]:
        """One finding a class, at the first of its methods."""
        methods = _static_methods(fact, ctx)
        if fact.place != min(methods):
            return
        made = _instances(fact.boundary.in_class, fact, ctx)
        arrays = fact.boundary.self_holds_arrays or any(i.holds_arrays for i in made)
        if not _several(made) and (not arrays or _is_singleton(made)):
            return
        names = list(methods.values())
        more = f" (and {len(names) - 3} more)" if len(names) > 3 else ""
        kept = "every instance and its arrays" if arrays else "every instance"
        yield self.finding(
            fact,
            f"{wording.listing(names[:3])}{more} {'are' if len(names) > 1 else 'is'} compiled again for each "
            f"instance of `{fact.boundary.in_class}`: `self` is static, and the cache keeps {kept} alive. "
            f"{_remedy(fact)}",
            confidence=Confidence.HIGH if _several(made) else Confidence.MEDIUM,
            related=[
                *(
                    Related(place, "jitted with `self` static, too")
                    for place in methods
                    if place != fact.place
                ),
                *_made_here(made),
            ],
            fix=_as_module(methods, ctx),
        )


def _keyed_on_self(fact: JitCall) -> bool:
    """A decorated method of a plain class: `filter_jit`, too, treats an instance of one as static."""
    boundary = fact.boundary
    static = boundary.static_self or boundary.flavour == "filter"
    return bool(boundary.in_class) and static and boundary.self_hashing == "identity"


def _jits_own_method(fact: JitCall) -> bool:
    kept = fact.boundary.fresh == "bound method" and fact.kept
    return kept and fact.boundary.flavour != "filter" and fact.symbol.endswith(".__init__")


def _static_methods(fact: JitCall, ctx: Context) -> dict[Place, str]:
    """The methods of the class that are jitted like this one, by where."""
    jitted = (j for j in ctx.facts(JitCall) if j.place.path == fact.place.path and _keyed_on_self(j))
    same = (j for j in jitted if j.boundary.in_class == fact.boundary.in_class)
    return {j.place: wording.function_name(j.boundary) for j in same}


def _instances(class_name: str, fact: JitCall, ctx: Context) -> list[Instantiation]:
    eager = (i for i in ctx.facts(Instantiation) if i.proof.level == "eager")
    return [i for i in eager if i.class_name == class_name and i.class_place.path == fact.place.path]


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


def _as_module(methods: Iterable[Place], ctx: Context) -> Fix | None:
    """The class as an `eqx.Module`, whose arrays are arguments; where Equinox is used and nothing is inherited."""
    import libcst as cst

    module, jit = ctx.spell("equinox.Module"), ctx.spell("equinox.filter_jit")
    nodes = [node for place in methods if (node := ctx.node(place)) is not None]
    around = [p for node in nodes[:1] for p in ctx.parents(node) if isinstance(p, cst.ClassDef)]
    if module is None or jit is None or not around or around[0].bases:
        return None
    span = ctx.span(around[0].name)
    end = Span(span.end_line, span.end_column, span.end_line, span.end_column)
    boundaries = [ctx.replace(node, jit) for node in nodes if ctx.focus.code(node) != jit]
    return ctx.suggest("Make the class a module", Edit(end, f"({module})"), *boundaries)
