"""Which claim is measured how: the one table of rule codes.

A rule that is not here makes no claim that a run could decide, or none that this machine could: `UNMEASURED` says
which, in the words of the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from jaxlint.confirm.arms import absorbed, configuration, faults, growth, retrace, told, trace_faults
from jaxlint.confirm.arms.memory import Threshold
from jaxlint.confirm.claim import Claim, Site
from jaxlint.confirm.judgement import Judgement
from jaxlint.confirm.observed import Observed

Judge = Callable[[Claim, Observed], Judgement]
Weigh = Callable[[Claim, Observed, Threshold], Judgement]


class Recipe(NamedTuple):
    """How a claim is judged from a run.

    `growth` asks for memory to be counted around each statement; `compare` judges a second run with jit switched
    off beside the first, `fixed` a run of the fixed program, and says whether the fix pays. With `memory` the
    boundary around the claim is compiled for each target; the others are for where there is none.
    `weigh` judges by what counts as a saving of memory.
    `passing` asks for what a statement outside jit holds for a moment, in a run of its own.
    `traced` says that in a module, which is no program, tracing a function shows it; else the function is called,
    `times` over. With `again` a second call with other values shows it, else one that differs in what the claim
    says to matter (`changes.CLAIMED`).
    `more` are statements to watch in a second run where the first left it open.
    """

    judge: Judge | None = None
    weigh: Weigh | None = None
    growth: bool = False
    compare: Callable[[Claim, Observed, Observed], Judgement] | None = None
    fixed: Callable[[Claim, Judgement, Observed, Observed], tuple[Judgement, bool]] | None = None
    memory: bool = False
    passing: bool = False
    traced: bool = False
    times: int = 1
    again: bool = False
    more: Callable[[Claim, Observed], list[Site]] | None = None


_RETRACE = Recipe(retrace.judge, fixed=retrace.with_fix)
_RETRACE_AGAIN = _RETRACE._replace(again=True)
_FAULT = Recipe(faults.judge, traced=True)
_CALLED_FAULT = Recipe(faults.judge)
_GROWTH = Recipe(growth.judge, growth=True, more=growth.bodies, times=growth.ENOUGH)
_CONFIGURATION = Recipe(configuration.judge)
_TOLD = Recipe(told.judge)
_MEMORY = Recipe(memory=True, traced=True)

RECIPES: Mapping[str, Recipe] = {
    **dict.fromkeys(
        ("JAX101", "JAX102", "JAX104", "JAX106", "JAX108", "JAX110", "JAX111", "JAX114"), _RETRACE
    ),
    **dict.fromkeys(("JAX103", "JAX105", "JAX107", "JAX109", "JAX112"), _RETRACE_AGAIN),
    **dict.fromkeys(("JAX205", "JAX206", "JAX207", "JAX208"), _FAULT._replace(judge=trace_faults.judge)),
    **dict.fromkeys(("JAX113", "JAX209"), _FAULT),
    **dict.fromkeys(("JAX302", "JAX317"), _CALLED_FAULT),
    **dict.fromkeys(("JAX201", "JAX202"), Recipe(absorbed.unseen_change)),
    **dict.fromkeys(("JAX203", "JAX204"), Recipe(absorbed.once_per_trace, more=absorbed.callers)),
    "JAX210": Recipe(compare=absorbed.other_without_jit),
    **dict.fromkeys(("JAX301", "JAX304", "JAX305", "JAX309", "JAX310", "JAX311", "JAX313"), _MEMORY),
    "JAX303": Recipe(memory=True, passing=True, traced=True),
    "JAX316": Recipe(told.judge, memory=True, traced=True),
    "JAX603": Recipe(weigh=growth.put_at, memory=True, growth=True, traced=True),
    "JAX306": Recipe(passing=True),
    "JAX307": Recipe(growth.held_at, growth=True),
    "JAX314": Recipe(weigh=growth.put_at, growth=True),
    **dict.fromkeys(("JAX308", "JAX401", "JAX402", "JAX403", "JAX404"), _GROWTH),
    **dict.fromkeys(("JAX501", "JAX502", "JAX505"), _CONFIGURATION),
    "JAX503": Recipe(configuration.too_late),
    "JAX504": Recipe(configuration.device_work),
    **dict.fromkeys(("JAX506", "JAX602"), _TOLD),
}

NO_RUN = "it is a claim about what can be installed, not about a run"

UNMEASURED: Mapping[str, str] = {
    "JAX211": "whether a transfer shares memory differs between runs and devices",
    "JAX312": "it is advice about an interface",
    "JAX315": "the CPU keeps no peak counter: it takes a GPU",
    "JAX601": "whether the precision is enough depends on the problem",
}
