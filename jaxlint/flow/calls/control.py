"""Structured control flow: its bodies are traced, eagerly or not; what becomes of a scan's stack."""

from __future__ import annotations

import ast

from jaxlint.flow.boundaries.crossing import as_traced
from jaxlint.flow.calls.argument_binding import bind
from jaxlint.flow.calls.dispatch import call_value
from jaxlint.flow.calls.updates import holds_updated
from jaxlint.flow.device_memory.chunks import note_chunks
from jaxlint.flow.device_memory.hand_chunks import note_parts
from jaxlint.flow.device_memory.moved_stacks import note_scanned
from jaxlint.flow.device_memory.pending_scan import PendingScan, is_nothing
from jaxlint.flow.device_memory.stacked_sizes import note_batched
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.closures import Closure, PartialApi, run_by
from jaxlint.flow.domain.freshness import freshness
from jaxlint.flow.domain.kinds import (
    BOUNDARY,
    CONSTANT,
    DEVICE,
    HOST,
    INSTANCE,
    PARAMETER,
    PARTIAL,
    TRACED,
    TREE,
)
from jaxlint.flow.domain.tags import UPDATED
from jaxlint.flow.domain.values import (
    DEVICE_VALUE,
    NONE,
    TRACED_PARAMETER,
    TRACED_VALUE,
    UNKNOWN_VALUE,
    Value,
    collection,
    is_boundary,
    tree,
)
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.retrace.eager_control import note_control
from jaxlint.flow.retrace.mutation import Invoked
from jaxlint.flow.shapes.static_sizes import check_sizes
from jaxlint.jax_api.arrays import SIZED_LAX
from jaxlint.jax_api.transforms import CALLABLE_KEYWORDS, CONTROL_FLOW, EAGER, JIT


@api_call("control")
def control_flow(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    if dotted == "flax.nnx.scan" and call.argument(0, "f") is None:
        return Value(PARTIAL, data=PartialApi(dotted, [], call.keywords))  # `@nnx.scan(in_axes=…)`
    if call.decorator:
        scanned = run_by(call.positional[0], call.node) if call.positional else None
        if dotted == "flax.nnx.scan" and scanned is not None and not frame.quiet:
            frame.log.append(PendingScan(frame, dotted, call, scanned, None))
        return UNKNOWN_VALUE
    from jaxlint.flow.config.configuration import device_use

    check_sizes(frame, SIZED_LAX.get(dotted), dotted, call)
    bodies = _bodies(dotted, call)
    result: Value | None = None
    body: Closure | None = None
    for value in bodies:
        if value.kind == BOUNDARY:
            value.data.traced_as_body = True
        if is_boundary(value) and frame.level >= JIT:
            operands = call.positional[3:] if last == "cond" else []
            call_value(frame, value, Call(call.node, operands, {}))
            continue
        closure = run_by(value, call.node)
        if closure is None:
            continue
        traced = _trace_body(frame, closure, last, call)
        if body is None or last not in ("while_loop",):
            result, body = traced, closure
    if frame.level == EAGER:
        device_use(frame, call.node, dotted)
    if last == "scan":
        note_scanned(frame, call)
    note_control(frame, dotted, bodies, call)
    return _result(frame, dotted, last, call, result, body)


def _bodies(dotted: str, call: Call) -> list[Value]:
    found = [call.positional[i] for i in CONTROL_FLOW[dotted] if i < len(call.positional)]
    found += [value for word, value in call.keywords.items() if word in CALLABLE_KEYWORDS]
    flat: list[Value] = []
    for value in found:
        if value.kind == TREE and value.data.__class__ is list:
            flat += value.data
        else:
            flat.append(value)
    return flat


def _trace_body(frame: Frame, closure: Closure, last: str, call: Call) -> Value:
    function = closure.function
    arguments = bind(closure, [], {}, frame)
    bound = set(closure.bound_keywords) | set(function.params[: closure.offset + len(closure.bound)])
    arguments = {name: value for name, value in arguments.items() if name in bound}
    free = [name for name in function.params if name not in bound]
    for name in free:
        if name not in function.defaults:
            arguments[name] = TRACED_PARAMETER
    if last == "scan" and len(free) > 1:
        xs = call.argument(2, "xs")
        if xs is None or (xs.kind == CONSTANT and xs.data is None):
            arguments[free[1]] = NONE
    if last == "fori_loop" and free:
        arguments[free[0]] = TRACED_VALUE
    _carry(arguments, free, last, call)
    if not call.starred:
        _given(arguments, free, last, call)
    where = frame.place(call.node) if hasattr(call.node, "lineno") else None
    if frame.level == EAGER:
        _note_invoked(frame, closure, arguments, call)
    result = frame.run.call(frame, closure, arguments, JIT, call.node, where)
    if last == "map" and "batch_size" in call.keywords:
        note_batched(frame, call.node)
    return result


def _note_invoked(frame: Frame, closure: Closure, arguments: dict[str, Value], call: Call) -> None:
    """An eager scan keeps the trace of a body that stays the same object: it reads stale values as jit does."""
    where = frame.place(call.node) if hasattr(call.node, "lineno") else None
    evaluation = frame.run.evaluation(frame, closure, arguments, JIT, where)
    if (
        evaluation is None
        or not evaluation.reads
        or closure.receiver is not None
        or freshness(frame, closure)
    ):
        return
    state = BoundaryState("jax.lax.scan", "control", frame.module, call.node, "call")
    state.closure = closure
    state.reads = evaluation.reads
    frame.log.append(Invoked(state, frame.module, call.node))


def _carry(arguments: dict[str, Value], free: list[str], last: str, call: Call) -> None:
    """The carry has the structure of its initial value."""
    position = {"scan": 1, "while_loop": 2, "fori_loop": 3}.get(last)
    if position is None or not free:
        return
    init = call.argument(position, "init", "init_val")
    if init is None:
        return
    name = free[1] if last == "fori_loop" and len(free) > 1 else free[0]
    arguments[name] = as_traced(init, "jax")


# Where control flow is given what its bodies get besides the carry: (name, position, parameter of the body).
_PASSED_ON: dict[str, tuple[str, int, int]] = {"scan": ("xs", 2, 1), "map": ("xs", 1, 0)}
_OPERANDS = {"cond": 3, "switch": 2}  # from here on all arguments are passed on as they are


def _given(arguments: dict[str, Value], free: list[str], last: str, call: Call) -> None:
    """What is passed on to a body, one slice of it for each round or as it is: of the structure it has outside."""
    passed: dict[str, Value | None] = {}
    if last in _PASSED_ON:
        word, position, index = _PASSED_ON[last]
        if index < len(free):
            passed[free[index]] = call.argument(position, word)
    first = _OPERANDS.get(last, len(call.positional))
    passed |= dict(zip(free, call.positional[first:], strict=False))
    for name, value in passed.items():
        if value is not None and value.kind in _STRUCTURED:
            arguments[name] = as_traced(value, "jax")


_STRUCTURED = frozenset((HOST, DEVICE, TRACED, PARAMETER, TREE, INSTANCE))


def _result(
    frame: Frame, dotted: str, last: str, call: Call, result: Value | None, body: Closure | None
) -> Value:
    array = TRACED_PARAMETER if frame.level else DEVICE_VALUE
    if last == "scan":
        pair = (
            result is not None
            and result.kind == TREE
            and result.data.__class__ is list
            and len(result.data) == 2
        )
        stacked = result.data[1] if pair and result is not None else None
        nothing = is_nothing(stacked)
        if not frame.quiet and isinstance(call.node, ast.Call):
            frame.log.append(PendingScan(frame, dotted, call, body, stacked))
        carry = call.argument(1, "init")
        if carry is not None and carry.kind == TREE and frame.level == EAGER:
            return tree([_like(carry), NONE if nothing else array])
        if frame.level and pair and result is not None and holds_updated(result.data[0]):
            array = _updated(result.data[0])
        return tree([array, NONE if nothing else TRACED_PARAMETER if frame.level else DEVICE_VALUE])
    if last == "map" and dotted == "jax.lax.map" and not frame.quiet and isinstance(call.node, ast.Call):
        frame.log.append(PendingScan(frame, dotted, call, body, None, result))
        note_chunks(frame, call)
        note_parts(frame, call)
    if (
        frame.level
        and result is not None
        and result.kind == TREE
        and last in ("cond", "switch", "while_loop", "fori_loop")
    ):
        return result
    return array.but(tags=UPDATED) if frame.level and holds_updated(result) else array


def _updated(carry: Value) -> Value:
    """The last carry of a scan that updates parameters."""
    if carry.kind == TREE and carry.data.__class__ is list:
        return tree([_updated(member) for member in carry.data])
    return TRACED_PARAMETER.but(tags=UPDATED) if holds_updated(carry) else TRACED_PARAMETER


def _like(carry: Value) -> Value:
    if carry.kind == TREE:
        if carry.data.__class__ is list:
            return tree([_like(v) for v in carry.data])
        if carry.data.__class__ is dict:
            return tree({k: _like(v) for k, v in carry.data.items()})
        return collection(DEVICE_VALUE)
    return DEVICE_VALUE
