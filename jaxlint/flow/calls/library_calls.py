"""Calls of library names: what they give, by the category of the name, and what they do to a trace."""

from __future__ import annotations

from jaxlint.flow.boundaries.escaping import escape_arguments
from jaxlint.flow.calls.holders import with_kept
from jaxlint.flow.calls.sources import draw
from jaxlint.flow.domain.values import TRACED_PARAMETER, TRACED_VALUE, UNKNOWN_VALUE, Value, tree
from jaxlint.flow.frame import API_CALLS, Call, Frame
from jaxlint.flow.precision import dtypes, upcasts, weak_types
from jaxlint.flow.trace import effects, impure, masks
from jaxlint.jax_api.categories import category
from jaxlint.jax_api.effects import is_printing
from jaxlint.jax_api.holders import HOLDERS
from jaxlint.jax_api.layers import HAIKU_ARRAYS
from jaxlint.jax_api.precision import TREE_CASTS, solver
from jaxlint.jax_api.solvers import ON_HOST, SOLVERS
from jaxlint.jax_api.transforms import JIT, UNROLLING

_GENERATORS = ("numpy.random.Generator().", "random.Random().")


def call_library(frame: Frame, dotted: str, call: Call) -> Value:
    """A call of a library name, or of a method of what a library made (`random.Random().shuffle`)."""
    if frame.level:
        impure.library_call(frame, dotted, call)
        if is_printing(dotted):
            effects.printed(frame, dotted, call)
    if dotted.startswith(_GENERATORS):
        return draw(frame, dotted.rpartition(".")[2], call)
    return call_api(frame, dotted, call)


def call_api(frame: Frame, dotted: str, call: Call) -> Value:
    """What a call of a library name gives."""
    result = _result(frame, dotted, call)
    return with_kept(frame, dotted, call, result) if dotted in HOLDERS and not frame.level else result


def _result(frame: Frame, dotted: str, call: Call) -> Value:
    kind, last = category(dotted)
    if dotted in SOLVERS:
        # Not at the top: a solver calls the functions it is given, through flow.calls.
        from jaxlint.flow.calls.solvers import hand_over

        hand_over(frame, dotted, call)
    on_host = not frame.level and dotted.startswith(ON_HOST)
    if on_host:
        from jaxlint.flow.calls.solvers import lend  # not at the top, as above

        lend(frame, call)
    handler = API_CALLS.get(kind)
    if handler is not None:
        result = handler(frame, dotted, last, call)
        if kind in masks.CATEGORIES:
            result = masks.of_call(last, call, result)
        if frame.weakly_typed and kind in dtypes.TYPED:
            result = weak_types.call_result(dotted, last, call, result)
        elif not frame.level and kind in dtypes.TYPED:
            result = weak_types.eager_result(dotted, last, call, result)
        if kind in dtypes.TYPED:
            return dtypes.typed(frame, dotted, last, call, result)
    elif dotted in TREE_CASTS:
        result = upcasts.cast_tree(frame, dotted, call)
    elif on_host:
        result = UNKNOWN_VALUE
    else:
        escape_arguments(call)
        if dotted in HAIKU_ARRAYS and frame.level >= JIT:
            return TRACED_VALUE
        unrolled = dotted in UNROLLING and frame.level >= JIT
        result = tree([TRACED_PARAMETER, TRACED_PARAMETER]) if unrolled else UNKNOWN_VALUE
    if solver(dotted):
        dtypes.note_solver(frame, dotted, call)
    return result
