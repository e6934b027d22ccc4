"""JAX112: compiled code is thrown away in each round of a loop that needs it again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Edit, Finding, Fix, Place, Related, Span
from jaxlint.flow.facts import BoundaryUse, CachesCleared, JitCall, ModuleRole
from jaxlint.pattern import pattern
from jaxlint.rule import Rule

from . import _wording as wording
from ._loops import inside, loop_around, way
from ._varying import varying

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context


_CLOCKS = pattern(r"perf_counter|monotonic|timeit|\btime\(")


class ClearCachesInLoop(Rule):
    """`jax.clear_caches()` runs in every round of a loop around a jitted call."""

    def suspect(self, fact: CachesCleared) -> bool:
        again = fact.loop is not None or bool(fact.consumers) or _repeated_by(fact) is not None
        return again and not fact.sometimes and fact.proof.level == "eager"

    def check(self, fact: CachesCleared, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        if ctx.role is ModuleRole.TEST:
            return
        loops = [fact.loop or loop_around(_repeated_by(fact), ctx), *fact.consumers]
        lost = ((loop, _lost_in(loop, fact, ctx)) for loop in loops if loop is not None)
        loop, uses = next(((loop, uses) for loop, uses in lost if uses), (fact.place, []))
        if not uses:
            return
        place = next((p for p in way(uses[0]) if loop.contains(p)), uses[0].place)
        name = wording.function_name(uses[0].boundary)
        thrown = f"what was compiled for `{name}`" if fact.boundary is not None else "everything compiled"
        yield self.finding(
            fact,
            f"`{ctx.text(fact.place)}` throws away {thrown} in every round, and `{name}` is compiled again in "
            "the next. Clear once after the loop, or only when shapes change.",
            related=[
                Related(place, f"`{name}` is needed again here"),
                Related(loop, "the loop"),
                Related(uses[0].boundary.place, "jitted here"),
            ],
            fix=_fix(node, ctx),
        )


def _lost_in(loop: Place, fact: CachesCleared, ctx: Context) -> list[BoundaryUse]:
    """The boundaries that each round of the loop compiles again because of the clearing, and for nothing else."""
    if _over_configurations(loop, ctx):
        return []
    uses = [use for use in ctx.facts(BoundaryUse) if _is_lost(fact, use, loop, ctx)]
    kept = any(_needs_another(use) for use in uses) or _measures(fact, uses, loop, ctx)
    return [] if kept else uses


def _repeated_by(fact: CachesCleared) -> Place | None:
    """The call in a loop that leads to the clearing each time: no test stands between."""
    steps = fact.proof.chain
    first = next((i for i, step in enumerate(steps) if step.place == fact.proof.repeated), len(steps))
    always = first < len(steps) and not any(step.sometimes for step in steps[first:])
    return fact.proof.repeated if always else None


def _over_configurations(loop: Place, ctx: Context) -> bool:
    """Whether the loop runs over a display of values: each is a setting of its own."""
    import libcst as cst

    node = ctx.node(loop)
    return isinstance(node, cst.For) and isinstance(node.iter, (cst.List, cst.Tuple, cst.Set, cst.Dict))


def _is_lost(fact: CachesCleared, use: BoundaryUse, loop: Place, ctx: Context) -> bool:
    """Whether a boundary that outlives the round is called in the loop, outside any trace."""
    if use.proof.level != "eager" or not inside(use, loop):
        return False
    if fact.boundary is not None and fact.boundary.place != use.boundary.place:
        return False
    return not any(j.place == use.boundary.place and inside(j, loop) for j in ctx.facts(JitCall))


def _needs_another(use: BoundaryUse) -> bool:
    """Whether the next round compiles the boundary anew in any case: it is handed another size or constant."""
    sizes = any(leaf.shape_varies for argument in use.arguments for leaf in argument.walk())
    keyed = [a for a in use.arguments if use.is_static(a) or use.boundary.flavour == "filter"]
    return sizes or bool(varying(use, keyed))


def _measures(fact: CachesCleared, uses: list[BoundaryUse], loop: Place, ctx: Context) -> bool:
    """Whether the loop times what runs right after the clearing: the compilation is what it is about."""
    first = min((p for use in uses for p in way(use) if loop.contains(p)), default=fact.place)
    return fact.place < first and _CLOCKS.search(ctx.text(loop)) is not None


def _fix(node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """Leave the statement out, where it is one of several in its block."""
    import libcst as cst

    around = list(ctx.parents(node)) if node is not None else []
    match around:
        case [cst.Expr(), cst.SimpleStatementLine(body=[_]) as line, cst.IndentedBlock(body=[_, _, *_]), *_]:
            span = ctx.span(line)
            whole = Span(span.line, 1, span.end_line + 1, 1)
            return Fix("Keep what is compiled", Applicability.DISPLAY, (Edit(whole, ""),))
    return None
