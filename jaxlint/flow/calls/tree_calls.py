"""Calls that map trees: `jax.tree.map`, and updates of parameters."""

from __future__ import annotations

import ast

from jaxlint.flow.boundaries.crossing import as_traced
from jaxlint.flow.calls.dispatch import call_value
from jaxlint.flow.domain.kinds import API, DEVICE, FUNCTION, HOST, INSTANCE, PARAMETER, TRACED, TREE, UNKNOWN
from jaxlint.flow.domain.sizes import unknown_of
from jaxlint.flow.domain.tags import COPIED, LENGTHENED, LOW, SHAPED, UPDATED
from jaxlint.flow.domain.values import TRACED_PARAMETER, TRACED_VALUE, UNKNOWN_VALUE, Value, collection
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.host_memory.copied import copied
from jaxlint.flow.host_memory.lending import lend
from jaxlint.flow.precision import upcasts
from jaxlint.flow.retrace import growth
from jaxlint.flow.statements.iteration import element_of
from jaxlint.jax_api.buffers import TRANSFERS

# What makes of a leaf one of its shape.
_OF_ONE_SHAPE = frozenset(
    f"jax.numpy.{name}" for name in ("zeros_like", "ones_like", "array", "asarray", "copy", "square")
)


@api_call("treemap")
def tree_map(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """The function is called on leaves: arrays where the tree is traced."""
    function = call.argument(0, "f")
    trees = call.positional[1:]
    result: Value | None = None
    if function is not None and function.kind == API and function.data in TRANSFERS:
        lend(frame, function.data, call, at=1)
    if function is not None:
        leaves = [_leaf(frame, value) for value in trees]
        if "with_path" in last:
            leaves.insert(0, UNKNOWN_VALUE)
        result = call_value(frame, function, Call(call.node, leaves, {}, decorator=True))
        if function.kind == FUNCTION and result.tags & LENGTHENED:
            nodes = call.node.args[1:] if isinstance(call.node, ast.Call) else []
            result = growth.passed_on(result, function.data, nodes)
    if result is None or not trees:
        return UNKNOWN_VALUE
    mapped = _mapped(trees[0], result)
    if mapped.size is None and not frame.level and function is not None and function.kind == API:
        mapped = _as_large(mapped, trees[0], function.data)
    return upcasts.mapped(frame, dotted, call, result, mapped)


def _as_large(mapped: Value, whole: Value, function: str) -> Value:
    size = unknown_of(whole).size if function in _OF_ONE_SHAPE else None
    return Value(mapped.kind, mapped.varies, mapped.tags, mapped.data, mapped.element, mapped.origin, size)


def _mapped(structure: Value, result: Value) -> Value:
    """The tree with what the function gives for each leaf. A member that is not understood may be a tree."""
    members = structure.data if structure.kind == TREE else None
    if members and members.__class__ is list:
        return Value(TREE, 0, 0, [_mapped(member, result) for member in members], None, structure.origin)
    if members and members.__class__ is dict:
        mapped = {key: _mapped(member, result) for key, member in members.items()}
        return Value(TREE, 0, 0, mapped, None, structure.origin)
    if result.tags & COPIED and structure.kind in (DEVICE, INSTANCE):
        return copied(structure)
    if result.tags & LOW and structure.kind == INSTANCE and structure.data.cls.is_pytree_value:
        return structure
    if result.kind in (TRACED, PARAMETER):
        return TRACED_PARAMETER
    if result.kind not in (DEVICE, HOST):
        return UNKNOWN_VALUE
    if structure.kind not in (DEVICE, HOST):
        return collection(result)
    kept = result.tags & (SHAPED | LENGTHENED)
    return Value(result.kind, result.varies, kept, None, None, result.origin) if kept else Value(result.kind)


def _leaf(frame: Frame, value: Value) -> Value:
    if value.kind == TREE:
        return element_of(value)
    if value.kind == PARAMETER:
        return TRACED_VALUE
    return value if value.kind != UNKNOWN else UNKNOWN_VALUE


@api_call("apply_updates")
def apply_updates(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """The parameters with the update: the same tree, or object, of other arrays."""
    parameters = call.positional[0] if call.positional else UNKNOWN_VALUE
    if parameters.kind in (INSTANCE, TREE):
        if frame.level:
            parameters = as_traced(parameters, "filter" if dotted.startswith("equinox.") else "jax")
        return parameters.but(tags=parameters.tags | UPDATED)
    return Value(PARAMETER if frame.level else DEVICE, 0, UPDATED)
