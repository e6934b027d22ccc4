"""The body of a jit boundary, traced: as its declaration alone tells, and with the arguments of a call."""

from __future__ import annotations

import ast

from jaxlint.flow.boundaries.crossing import passed_self
from jaxlint.flow.calls import linen
from jaxlint.flow.calls.argument_binding import bind
from jaxlint.flow.calls.instances import generic_instance
from jaxlint.flow.device_memory.remat import note_gradient
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.tags import UPDATED
from jaxlint.flow.domain.values import TRACED_PARAMETER, TRACED_VALUE, Value
from jaxlint.flow.frame import Frame
from jaxlint.flow.run import Run
from jaxlint.flow.syntax.annotations import is_array_annotation
from jaxlint.jax_api.transforms import JIT


def trace_declared(run: Run, state: BoundaryState) -> None:
    """Trace a boundary of the top level, if that has not been done yet."""
    waiting = run.declared.pop(state, None) if run.declared else None
    if waiting is not None:
        frame, node = waiting
        trace_declaration(frame, state, node)


def trace_declaration(frame: Frame, state: BoundaryState, node: ast.AST) -> None:
    """Trace the body as the declaration alone tells: parameters without defaults are tracers or trees."""
    closure = entered(frame, state, {})
    if closure is None or (closure.applied is not None and state.static and "method" in state.static):
        return
    function = closure.function
    arguments: dict[str, Value] = {}
    unsure = state.flavour in ("filter", "nnx")
    static = state.static if state.static is not None else None
    for index, name in enumerate(function.params):
        if index == 0 and function.is_method and name in ("self", "cls"):
            receiver = closure.receiver
            if receiver is None and function.cls is not None:
                receiver = passed_self(state, generic_instance(function.cls))
            if receiver is not None:
                arguments[name] = receiver
            continue
        if name in function.defaults:
            continue
        is_static = (
            static is None
            or name in static
            or index - closure.offset - len(closure.bound) + closure.dropped in static
        )
        if not is_static and not unsure:
            arguments[name] = TRACED_PARAMETER
    for name in function.keyword_only:
        if name not in function.defaults and static is not None and name not in static and not unsure:
            arguments[name] = TRACED_PARAMETER
    for name, value in bind(closure, [], {}, frame).items():
        if name in closure.bound_keywords or (
            closure.bound and name in function.params[: len(closure.bound) + closure.offset]
        ):
            arguments[name] = value
    if unsure:
        for name, text in function.annotations.items():
            if name not in arguments and is_array_annotation(text) and name not in function.defaults:
                arguments[name] = TRACED_VALUE
    trace_body(frame, state, closure, arguments, node)


def entered(frame: Frame, state: BoundaryState, keywords: dict[str, Value]) -> Closure | None:
    """The function that a call with these keywords enters; None where it is not in view."""
    closure = state.closure
    if closure is None or closure.applied is None:
        return closure
    return linen.chosen(frame, closure, keywords)


def trace_body(
    frame: Frame, state: BoundaryState, closure: Closure, arguments: dict[str, Value], node: ast.AST
) -> Value | None:
    evaluation = frame.run.evaluation(frame, closure, arguments, JIT, frame.place(state_node(state, frame)))
    if evaluation is None:
        return None
    frame.log.append(frame.run.entered(node, frame, evaluation))
    note_gradient(frame, closure, node)
    for key, read in evaluation.reads.items():
        state.reads.setdefault(key, read)
        if frame.reads is not None:
            frame.reads.setdefault(key, read)
    result = linen.given_back(closure, evaluation.result, True)
    if state.result is None or not (state.result.tags & UPDATED):
        state.result = result
    return result


def state_node(state: BoundaryState, frame: Frame) -> ast.AST:
    """The boundary's node where it lies in the frame's module, else the place it is used."""
    return state.node if state.module is frame.module else frame.statement or state.node
