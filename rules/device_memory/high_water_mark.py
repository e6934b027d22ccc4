"""JAX315: several configurations are compared in one process by a counter that never falls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Edit, Finding, Fix, Related
from jaxlint.flow.facts import PeakRead
from jaxlint.pattern import pattern
from jaxlint.rule import Confidence, Rule

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_BASELINE = pattern(r"before|after|start|end|base|initial|final|prev|total")


class HighWaterMark(Rule):
    """A peak of the process is taken for the peak of one arm."""

    def suspect(self, fact: PeakRead) -> bool:
        return not fact.reset and not fact.own_process and fact.over in ("arms", "")

    def check(self, fact: PeakRead, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        others = {
            other.place
            for other in ctx.facts(PeakRead)
            if other.place != fact.place and other.symbol == fact.symbol and other.counter == fact.counter
        }
        several = fact.over == "arms" or len(set(fact.callers)) > 1 or (others and not fact.callers)
        if not several or (fact.over == "" and _is_baseline(node, ctx)):
            return
        related = [Related(place, "read for one arm here") for place in fact.callers[:3]]
        related += [Related(place, "and read here") for place in sorted(others)[:2]]
        yield self.finding(
            fact,
            f"`{fact.counter}` is the high-water mark of the whole process and never falls: each later "
            "configuration reports at least what the largest before it used. Measure each in a process of its own.",
            confidence=Confidence.HIGH if fact.over == "arms" else Confidence.MEDIUM,
            related=related,
            fix=_own_processes(fact, ctx),
        )


def _is_baseline(node: cst.CSTNode | None, ctx: Context) -> bool:
    """`peak_before = …`: a difference is taken within one arm."""
    import libcst as cst

    for parent in ctx.parents(node) if node is not None else ():
        if isinstance(parent, cst.Assign):
            return any(_BASELINE.search(ctx.focus.code(target.target).lower()) for target in parent.targets)
    return False


def _own_processes(fact: PeakRead, ctx: Context) -> Fix | None:
    """Each call of a measuring function of this file in a new process."""
    import libcst as cst

    started = ctx.importing("multiprocessing.get_context")
    calls = [ctx.node(place) for place in fact.callers]
    if started is None or not calls or "." in fact.symbol:
        return None
    edits: list[Edit] = []
    for call in calls:
        if not isinstance(call, cst.Call) or ctx.focus.code(call.func) != fact.symbol:
            return None
        if any(argument.star or isinstance(argument.value, cst.Lambda) for argument in call.args):
            return None  # a lambda cannot be sent to another process
        edits.append(ctx.replace(call, f'{started[0]}("spawn").Pool(1).apply({_handed(call, ctx)})'))
    return ctx.suggest("Measure each in a process of its own", *started[1], *edits)


def _handed(call: cst.Call, ctx: Context) -> str:
    """A call's function and arguments, as `Pool.apply` takes them."""
    code = ctx.focus.code
    values = [code(argument.value) for argument in call.args if argument.keyword is None]
    positional = f"({values[0]},)" if len(values) == 1 else f"({', '.join(values)})"
    named = ", ".join(f'"{a.keyword.value}": {code(a.value)}' for a in call.args if a.keyword is not None)
    handed = f"{code(call.func)}, {positional}"
    return f"{handed}, {{{named}}}" if named else handed
