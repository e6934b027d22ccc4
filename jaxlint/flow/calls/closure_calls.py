"""Calls of the project's functions: which level they run at, and with which arguments."""

from __future__ import annotations

from jaxlint.flow.calls import linen
from jaxlint.flow.calls.argument_binding import bind
from jaxlint.flow.calls.transformed_calls import arguments_inside, result_outside
from jaxlint.flow.device_memory.giving_away import note_passed_on
from jaxlint.flow.device_memory.initial import note_mapped_init
from jaxlint.flow.device_memory.mapped import note_map
from jaxlint.flow.device_memory.remat import note_gradient
from jaxlint.flow.device_memory.stacked_sizes import note_mapped
from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.kinds import CONSTANT, UNKNOWN
from jaxlint.flow.domain.values import PER_ITERATION, UNKNOWN_VALUE, Value, is_passage
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.retrace import growth
from jaxlint.flow.retrace.eager_control import note_derivative
from jaxlint.jax_api.transforms import EAGER, JIT


def call_closure(frame: Frame, closure: Closure, call: Call, level: int | None = None) -> Value:
    """Enter a function of the project."""
    if closure.applied is not None:
        method = linen.reached(frame, closure, call)
        if method is None:
            return UNKNOWN_VALUE
        closure, call = method
    level = frame.level if level is None else level
    for transform in closure.transforms:
        level = max(level, transform[0])
    if level == EAGER:
        result = linen.given_back(closure, _call_eager(frame, closure, call), False)
        return linen.parameters(frame, closure, call, result)
    positional, keywords = call.positional, call.keywords
    if closure.transforms and frame.level < JIT:
        positional, keywords = arguments_inside(closure, positional, keywords)
    arguments = bind(closure, positional, keywords, frame, call.starred)
    result = frame.run.call(frame, closure, arguments, level, call.node, frame.traced_by)
    result = linen.given_back(closure, result, True)
    if not call.decorator:
        result = growth.renamed(result, closure, lambda: growth.argument_paths(closure, call))
    if not closure.transforms:
        return result
    note_gradient(frame, closure, call.node)
    note_mapped(frame, closure, call.node)
    note_map(frame, closure, call)
    note_mapped_init(frame, closure, call)
    note_derivative(frame, {name for _, name in closure.transforms}, call.node)
    return result_outside(frame, closure, result, call.positional)


def _call_eager(frame: Frame, closure: Closure, call: Call) -> Value:
    function = closure.function
    if function.cached and hasattr(call.node, "lineno"):
        noted = frame.run.cached_calls.setdefault(function, [])
        noted.append((frame.place(call.node), _by_parameter(closure, call)))
    known = any(_informative(v) for v in call.positional) or any(
        _informative(v) for v in call.keywords.values()
    )
    if known:
        arguments = bind(closure, call.positional, call.keywords, frame, call.starred)
    else:
        arguments = {}
        if closure.receiver is not None and function.is_method and function.params:
            arguments[function.params[0]] = closure.receiver
        if closure.bound or closure.bound_keywords or (function.defaults and not call.values()):
            arguments = bind(closure, call.positional, call.keywords, frame, call.starred)
    result = frame.run.call(frame, closure, arguments, EAGER, call.node)
    note_passed_on(frame, closure, call)
    if call.decorator:
        return result
    return growth.renamed(result, closure, lambda: growth.argument_paths(closure, call))


def _by_parameter(closure: Closure, call: Call) -> dict[str, Value]:
    """The arguments of a call by the names of the parameters; those that `*args` takes by their number."""
    names = closure.function.params[closure.offset + len(closure.bound) :]
    numbered = (f"*{position}" for position in range(len(names), len(call.positional)))
    return {**dict(zip((*names, *numbered), call.positional, strict=False)), **call.keywords}


def _informative(value: Value) -> bool:
    """Worth an evaluation of its own."""
    if value.kind == UNKNOWN:
        return bool(value.tags) or value.varies >= PER_ITERATION
    return value.kind != CONSTANT or is_passage(value)
