"""Methods that are no function in view: what they do to their receiver, demand of a tracer, and give."""

from __future__ import annotations

import ast

from jaxlint.flow.calls import patching
from jaxlint.flow.calls.methods import call_method
from jaxlint.flow.device_memory.loading import note_restore
from jaxlint.flow.device_memory.peaks import note_counter
from jaxlint.flow.domain.kinds import HOST, MODULE, TREE, UNKNOWN
from jaxlint.flow.domain.tags import LOW
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.host_memory.keeping import note_append
from jaxlint.flow.precision import dtypes, weak_types
from jaxlint.flow.retrace.grouping import ADDING, note_grouped
from jaxlint.flow.retrace.mutation import Mutated
from jaxlint.flow.retrace.shared_containers import items_of
from jaxlint.flow.shapes.lengths import of_method
from jaxlint.flow.statements.assignment import container_key
from jaxlint.flow.trace import effects, impure, masks, traced
from jaxlint.index.written_names import dotted_name
from jaxlint.jax_api.impure import FILE_METHODS
from jaxlint.jax_api.loading import RESTORE_METHODS
from jaxlint.jax_api.transforms import JIT

# Methods that change their receiver in place.
_MUTATING = frozenset(
    {
        "update",
        "append",
        "extend",
        "insert",
        "clear",
        "pop",
        "popitem",
        "remove",
        "add",
        "setdefault",
        "fill",
        "sort",
    }
)


def note_method(frame: Frame, node: ast.Call, method: ast.Attribute, receiver: Value, call: Call) -> None:
    """What a method of no known function does to its receiver, or demands of a tracer."""
    name = method.attr
    if name in _MUTATING and receiver.kind in (TREE, UNKNOWN, HOST) and dotted_name(method.value) is not None:
        held = items_of(frame, receiver, name, call) if receiver.kind == TREE and not frame.level else None
        frame.log.append(Mutated(container_key(frame, method.value), frame.module, node, held))
    if name == "update" and receiver.kind == MODULE:
        patching.namespace_updated(frame, node, receiver, call)
    if name == "get" and call.positional:
        note_counter(frame, node, call.positional[0])
    if name in ADDING and not frame.level and not isinstance(method.value, ast.Name):
        note_grouped(frame, method, call)
    if frame.level:
        _note_in_trace(frame, node, receiver, name, call)
    elif name in patching.METHODS and receiver.kind == UNKNOWN:
        patching.method(frame, node, receiver, name, call)
    elif name in RESTORE_METHODS:
        note_restore(frame, call)
    if name == "reshape" and receiver.kind == UNKNOWN and frame.level >= JIT:
        for position, value in enumerate(call.positional):
            traced.size(frame, call.argument_node(position), value, ".reshape", "shape")


def _note_in_trace(frame: Frame, node: ast.Call, receiver: Value, name: str, call: Call) -> None:
    if name in effects.PUTTING:
        effects.put(frame, node, receiver, name, call)
    elif name in FILE_METHODS:
        impure.file_method(frame, node, name)
    elif receiver.kind == UNKNOWN:
        effects.logged(frame, node, name, call)


def result_of_method(frame: Frame, method: ast.Attribute, receiver: Value, call: Call) -> Value | None:
    """What the method gives, as far as its name and the kind of its receiver tell; None where they do not."""
    name = method.attr
    if receiver.kind != UNKNOWN:
        result = masks.of_method(receiver, name, call, call_method(frame, receiver, name, call))
        if frame.weakly_typed:
            result = weak_types.method_result(receiver, name, call, result)
        typed = name == "astype" or receiver.tags & LOW
        return dtypes.method(frame, receiver, name, call, result) if typed else result
    if name == "astype" or receiver.tags & LOW:
        return dtypes.method(frame, receiver, name, call, UNKNOWN_VALUE)
    if name in ("append", "appendleft"):
        note_append(frame, name, call)  # of a list that is not in view
    return of_method(frame, receiver, method, call)
