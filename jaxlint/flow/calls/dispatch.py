"""Calls: one function calls an abstract value, whatever it is."""

from __future__ import annotations

from jaxlint.flow.boundaries.boundary_calls import call_boundary
from jaxlint.flow.boundaries.escaping import escape_arguments, lend_arguments
from jaxlint.flow.calls.argument_binding import bind
from jaxlint.flow.calls.closure_calls import call_closure
from jaxlint.flow.calls.instances import instantiate
from jaxlint.flow.calls.library_calls import call_api, call_library
from jaxlint.flow.device_memory.initial import made_array
from jaxlint.flow.device_memory.mapped import is_mapped, note_unknown_map
from jaxlint.flow.domain.candidates import candidates, one_signature
from jaxlint.flow.domain.closures import Closure, PartialApi
from jaxlint.flow.domain.joining import join_all
from jaxlint.flow.domain.kinds import (
    API,
    BOUNDARY,
    CLASS,
    CONSTANT,
    FOREIGN,
    FUNCTION,
    INSTANCE,
    ONE_OF,
    PARTIAL,
    UNKNOWN,
)
from jaxlint.flow.domain.tags import FRESH
from jaxlint.flow.domain.values import (
    DEVICE_VALUE,
    PER_ITERATION,
    TRACED_PARAMETER,
    TRACED_VALUE,
    UNKNOWN_VALUE,
    Value,
)
from jaxlint.flow.expressions.attributes import bound_method
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.host_memory.cached_functions import CACHE_DECORATOR, configured_form
from jaxlint.flow.precision.dtypes import note_solver
from jaxlint.flow.trace.traced import all_results_traced
from jaxlint.jax_api.layers import gives_array
from jaxlint.jax_api.transforms import JIT


def call_value(frame: Frame, callee: Value, call: Call) -> Value:
    """What calling a value gives."""
    kind = callee.kind
    if kind == API:
        return call_library(frame, callee.data, call)
    if kind == FUNCTION:
        _hand_over(frame, callee.data, call)
        return call_closure(frame, callee.data, call)
    if kind == BOUNDARY:
        return call_boundary(frame, callee, call)
    if kind == PARTIAL:
        return _call_partial(frame, callee.data, call)
    if kind == CLASS:
        escape_arguments(call)
        return instantiate(frame, callee.data, call)
    if kind == INSTANCE:
        method = callee.data.cls.lookup("__call__")
        if method is not None:
            return call_value(frame, bound_method(frame, method, callee, call.node), call)
    if kind == ONE_OF:
        choices, call = candidates(callee.data, call)
        call.several = call.several or not one_signature(callee.data)
        return join_all([call_value(frame, choice, call) for choice in choices]) or UNKNOWN_VALUE
    if kind == FOREIGN:
        return _call_foreign(frame, callee, call)
    if kind == CONSTANT and callee.data == CACHE_DECORATOR:
        return configured_form(frame, callee, call)
    escape_arguments(call)
    if callee.tags & FRESH:
        note_unknown_map(frame, callee, call)
        mapped = callee.element
        if mapped is not None and mapped.kind == API:  # `jax.vmap(jnp.linalg.inv)(x)`
            note_solver(frame, mapped.data, call)
        if is_mapped(callee) and all_results_traced(frame, call.values()):
            layer = mapped.data.api if mapped is not None and mapped.kind == FOREIGN else ""
            return TRACED_VALUE if gives_array(layer) else TRACED_PARAMETER
    if kind == UNKNOWN and callee.varies >= PER_ITERATION:
        return Value(UNKNOWN, callee.varies, 0, None, None, callee.origin)
    return UNKNOWN_VALUE


def _hand_over(frame: Frame, closure: Closure, call: Call) -> None:
    """Give a function of the project its arguments."""
    if any(value.kind == BOUNDARY for value in call.values()):
        bound = bind(closure, call.positional, call.keywords, frame, call.starred)
        lend_arguments(call, bound, closure.function)
    else:
        escape_arguments(call)


def _call_partial(frame: Frame, partial: PartialApi, call: Call) -> Value:
    merged = Call(
        call.node,
        [*partial.args, *call.positional],
        {**partial.keywords, **call.keywords},
        call.starred,
        call.decorator,
        len(partial.args),
    )
    if partial.boundary is not None:
        return call_value(frame, partial.boundary, merged)
    if partial.cls is not None:
        escape_arguments(merged)
        return instantiate(frame, partial.cls, merged)
    return call_api(frame, partial.api, merged)


def _call_foreign(frame: Frame, callee: Value, call: Call) -> Value:
    """A schedule gives a float for a step; anything else is unknown."""
    escape_arguments(call)
    api = callee.data.api
    if ".initializers." in api:
        return made_array(frame, call)
    if api.startswith(("equinox.nn.", "flax.", "haiku.")) and all_results_traced(frame, call.values()):
        return TRACED_VALUE if gives_array(api) else TRACED_PARAMETER
    if api.startswith("optax.") and ("schedule" in api or api.endswith("_decay")):
        return TRACED_VALUE if frame.level >= JIT else DEVICE_VALUE
    return UNKNOWN_VALUE
