"""JAX315: several configurations are compared in one process by a counter that never falls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Related
from jaxlint.flow.facts import PeakRead
from jaxlint.rule import Confidence, Rule

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_BASELINE = re.compile(r"before|after|start|end|base|initial|final|prev|total")


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
        )


def _is_baseline(node: cst.CSTNode | None, ctx: Context) -> bool:
    """`peak_before = …`: a difference is taken within one arm."""
    import libcst as cst

    for parent in ctx.parents(node) if node is not None else ():
        if isinstance(parent, cst.Assign):
            return any(_BASELINE.search(ctx.focus.code(target.target).lower()) for target in parent.targets)
    return False
