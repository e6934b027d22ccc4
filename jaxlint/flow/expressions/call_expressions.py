"""Call expressions: what is called, with which arguments, and what the spelling of a call tells."""

from __future__ import annotations

import ast

from jaxlint.flow.boundaries.watching import note_read
from jaxlint.flow.calls.dispatch import call_value
from jaxlint.flow.calls.instances import fields_left
from jaxlint.flow.calls.unknown_methods import note_method, result_of_method
from jaxlint.flow.device_memory.initial import note_init
from jaxlint.flow.domain.kinds import (
    BOUNDARY,
    CLASS,
    DEVICE,
    FOREIGN,
    INSTANCE,
    LAZY,
    PARAMETER,
    SHAPE,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.tags import UPDATED
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.expressions.attributes import attribute
from jaxlint.flow.frame import Call, Frame, evaluate, expression
from jaxlint.flow.host_memory import lending

_HARMLESS_METHODS = frozenset({"is_deleted", "delete"})


@expression(ast.Call)
def call(frame: Frame, node: ast.Call) -> Value:
    targets = frame.targets
    callee_node = node.func
    receiver: Value | None = None
    if isinstance(callee_node, ast.Attribute):
        callee, receiver = _attribute_callee(frame, callee_node)
    else:
        callee = evaluate(frame, callee_node)
    if targets:
        frame.targets = ()
    made = _with_arguments(frame, node, callee)
    frame.targets = targets
    if lending.concerns(frame, callee, made):
        lending.passed(frame, callee, made)
    if isinstance(callee_node, ast.Attribute):
        if callee_node.attr == "init":
            note_init(frame, node, callee, receiver)
        if receiver is not None and callee.kind == UNKNOWN:
            note_method(frame, node, callee_node, receiver, made)
        if callee_node.attr == "apply_gradients":
            return _updated_state(frame, callee_node)
        if receiver is not None and callee.kind == UNKNOWN:
            result = result_of_method(frame, callee_node, receiver, made)
            if result is not None:
                return result
    elif callee.kind == BOUNDARY and isinstance(callee_node, ast.Call):
        callee.data.form = "immediate"
    return call_value(frame, callee, made)


def _with_arguments(frame: Frame, node: ast.Call, callee: Value) -> Call:
    positional: list[Value] = []
    starred = False
    for argument in node.args:
        if argument.__class__ is ast.Starred:
            spread = evaluate(frame, argument.value)
            members = _spread(callee, spread, len(positional), node)
            starred |= members is None
            positional += [UNKNOWN_VALUE] if members is None else members
        else:
            positional.append(evaluate(frame, argument))
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        value = evaluate(frame, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif (
            value.kind == TREE
            and value.data.__class__ is dict
            and all(isinstance(k, str) for k in value.data)
        ):
            keywords.update(value.data)
        else:
            starred = True
    return Call(node, positional, keywords, starred)


def _spread(callee: Value, spread: Value, given: int, node: ast.Call) -> list[Value] | None:
    """The arguments that `*spread` stands for; None where their number is not known."""
    if spread.kind == TREE and spread.data.__class__ is list:
        members: list[Value] = spread.data
        return members
    if spread.kind == INSTANCE and spread.data.cls.family == "namedtuple":
        fields = spread.data.cls.all_fields()
        return [spread.data.fields.get(name, UNKNOWN_VALUE) for name in fields]
    if callee.kind == CLASS and spread.kind == TREE and spread.element is not None:
        # `State(a, *members)` takes as many as it has fields, and they are all alike.
        return [spread.element] * fields_left(callee.data, given, node) or None
    return None


def _attribute_callee(frame: Frame, node: ast.Attribute) -> tuple[Value, Value | None]:
    """(what is called, the receiver when it may be a method of a value).

    The receiver is evaluated once: twice is exponential on `.at[].set().at[]` chains.
    """
    base_node = node.value
    if base_node.__class__ is ast.Name:
        dotted = f"{base_node.id}.{node.attr}"
        stored = frame.names.get(dotted)
        if stored is not None:
            return (frame.run.program.force(stored) if stored.kind == LAZY else stored), None
        if frame.watching and node.attr not in _HARMLESS_METHODS:
            note_read(frame, base_node, base_node.id)
        watching, frame.watching = frame.watching, False
        base = evaluate(frame, base_node)
        frame.watching = watching
    else:
        base = evaluate(frame, base_node)
    found = attribute(frame, base, node)
    if found.kind == UNKNOWN or found.kind == SHAPE:
        return (UNKNOWN_VALUE if found.kind == SHAPE else found), base
    return found, None


def _updated_state(frame: Frame, callee_node: ast.Attribute) -> Value:
    """`state.apply_gradients(…)`: the same state, of other arrays."""
    state = evaluate(frame, callee_node.value)
    if state.kind in (FOREIGN, INSTANCE):
        return state.but(tags=state.tags | UPDATED)
    return Value(PARAMETER if frame.level else DEVICE, 0, UPDATED)
