"""Functions that are handed to a solver of another library, which traces them: terms, objectives, conditions."""

from __future__ import annotations

from jaxlint.flow.boundaries.crossing import as_traced
from jaxlint.flow.boundaries.escaping import escape
from jaxlint.flow.calls.argument_binding import bind
from jaxlint.flow.calls.dispatch import call_value
from jaxlint.flow.domain.closures import run_by
from jaxlint.flow.domain.kinds import BOUNDARY, CONSTANT, FUNCTION, INSTANCE, PARTIAL, TREE, UNKNOWN
from jaxlint.flow.domain.values import (
    HOST_VALUE,
    TRACED_PARAMETER,
    TRACED_VALUE,
    UNKNOWN_VALUE,
    Value,
    is_boundary,
    parts,
)
from jaxlint.flow.frame import Call, Frame
from jaxlint.jax_api.solvers import ARRAY, SOLVERS, Argument, Handed
from jaxlint.jax_api.solvers import TREE as TREE_OF_ARRAYS
from jaxlint.jax_api.transforms import JIT


def hand_over(frame: Frame, dotted: str, call: Call) -> None:
    """`diffrax.ODETerm(model)`, `optimistix.root_find(fn, solver, y0)`: the function runs under a trace."""
    jit = call.keywords.get("jit")
    if jit is not None and jit.kind == CONSTANT and jit.data is False:
        return  # JAXopt can do without
    for handed in SOLVERS[dotted]:
        given = call.argument(handed.position, handed.keyword)
        for function in _functions(given) if given is not None else ():
            _trace(frame, function, handed, call)


def lend(frame: Frame, call: Call) -> None:
    """`scipy.optimize.minimize(loss, x0)`: what is handed over is called with an array of numpy, and not kept: a
    function, an object with `__call__`, the `fun` of a constraint."""
    for value in call.values():
        called = [function for function in _in_dicts(value) if _is_called(function)]
        for function in called:
            call_value(frame, function, Call(call.node, [HOST_VALUE], {}, True))
        if not called:
            escape(value)


def _in_dicts(value: Value) -> list[Value]:
    """An argument, or the entries of a dict or of several: `constraints=[{"type": "eq", "fun": volume}]`. What
    stands in a tuple by itself (`args=(model,)`) is for the function, not for the solver."""
    if value.kind != TREE:
        return [value]
    dicts = [value] if value.data.__class__ is dict else value.data if value.data.__class__ is list else []
    return [entry for each in dicts if each.data.__class__ is dict for entry in each.data.values()]


def _is_called(value: Value) -> bool:
    if value.kind == INSTANCE:
        return value.data.cls.lookup("__call__") is not None
    return value.kind in (FUNCTION, BOUNDARY, PARTIAL)


def _functions(value: Value) -> list[Value]:
    """An event may have a tree of conditions."""
    return parts(value) if value.kind == TREE else [value]


def _trace(frame: Frame, value: Value, handed: Handed, call: Call) -> None:
    arguments = [_argument(what, call) for what in handed.gets]
    if is_boundary(value):
        if frame.level >= JIT:
            call_value(frame, value, Call(call.node, arguments, {}))
        return
    closure = run_by(value, call.node)
    if closure is None:
        return
    receiver = closure.receiver
    if frame.level < JIT and receiver is not None and receiver.kind == INSTANCE:
        closure = closure.copy(closure.home, closure.loop, closure.node)
        closure.receiver = as_traced(receiver, "filter")  # a module's arrays are among the leaves of the term
    where = frame.place(call.node) if hasattr(call.node, "lineno") else None
    frame.run.call(frame, closure, bind(closure, arguments, {}, frame), JIT, call.node, where)


def _argument(what: str | Argument, call: Call) -> Value:
    if isinstance(what, Argument):
        given = call.argument(what.position, what.keyword)
        if what.filtered:
            return as_traced(given, "filter") if given is not None else UNKNOWN_VALUE
        known = given is not None and given.kind != UNKNOWN
        return as_traced(given, "jax") if given is not None and known else TRACED_PARAMETER
    return TRACED_VALUE if what == ARRAY else TRACED_PARAMETER if what == TREE_OF_ARRAYS else UNKNOWN_VALUE
