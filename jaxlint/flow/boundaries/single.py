"""Boundaries that a function makes, and that are one object all the same: the function is called once, when its
module is imported.

`smooth = make_smooth()` at the top of a module is `@jit def smooth` in another dress. A boundary of `main` is one
object, too, where the module calls `main` once. That there is one call only shows when the run is over.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.evaluations import Called, Evaluation
from jaxlint.flow.run import Run

_DEPTH = 6


def settle_single(runs: Iterable[Run]) -> None:
    """Say of the boundaries that are made once that they are not new in each call."""
    for run in runs:
        made = [state for state in run.boundaries if state.fresh and state.fresh_in == "call"]
        if not made:
            continue
        callers = _callers(run)
        for state in made:
            if _is_single(state, callers):
                state.fresh = state.fresh_in = ""


Callers = dict[Function, dict[ast.AST, set[Evaluation]]]


def _callers(run: Run) -> Callers:
    """The calls that enter each function, and the evaluations that they are part of."""
    found: Callers = {}
    for evaluation in run.memo.values():
        if evaluation.function is not None:
            calls = found.setdefault(evaluation.function, {})
            for caller, node in evaluation.entries:
                calls.setdefault(node, set()).add(caller.evaluation)
    return found


def _is_single(state: BoundaryState, callers: Callers) -> bool:
    maker = state.home
    for _ in range(_DEPTH):
        if maker is None or maker.function is None:
            return maker is not None
        calls = callers.get(maker.function, {})
        if len(calls) != 1:
            return False
        evaluations = next(iter(calls.values()))
        caller = next(iter(evaluations))
        entered = [item for item in caller.log if isinstance(item, Called) and item.evaluation is maker]
        if len(evaluations) != 1 or len(entered) != 1 or entered[0].in_loop:
            return False
        maker = caller
    return False
