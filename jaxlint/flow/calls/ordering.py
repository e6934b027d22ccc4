"""What Python orders: `sorted`, `min`, `max` and `list.sort` compare members, or what a `key` gives of each."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.joining import join_all
from jaxlint.flow.domain.kinds import CONSTANT, PARAMETER, TRACED, TREE
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.statements.iteration import as_keys, element_of, iterated
from jaxlint.flow.syntax.bindings import look
from jaxlint.flow.trace import traced
from jaxlint.jax_api.transforms import VMAP

_LOOKUPS = frozenset({"get", "__getitem__"})
# What gives its members in turn, whatever they are; a dict gives its keys.
_OF_MEMBERS = frozenset({"generator", "list", "tuple"})


def ask_for_order(frame: Frame, name: str, given: list[Value], call: Call) -> None:
    """Members are compared: those of one iterable, or those that are given, of which a tracer has no order. The key
    is called at any level."""
    if not given:
        return
    key = call.keywords.get("key")
    if key is not None and not (key.kind == CONSTANT and key.data is None):
        compared = _first_compared(_of_key(frame, given, key, call))
        if frame.level >= VMAP:
            traced.demand(frame, call.node, compared, f"{name}(key=)")
        return
    if frame.level < VMAP:
        return
    members = given if len(given) > 1 else exact_members(given[0], call.argument_node(0))
    found = next((each for v in members if (each := _first_compared(v)).kind == TRACED), UNKNOWN_VALUE)
    traced.demand(frame, call.node, found, f"{name}()")


def exact_members(value: Value, node: ast.AST | None = None) -> list[Value]:
    """The members that iterating over a value gives, or what each of them is; nothing where they may be keys."""
    if value.kind != TREE:
        return [value]
    if value.data.__class__ is list:
        return list(value.data)
    word = value.origin.word if value.origin is not None else ""
    of_values = (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "values"
    )
    return [value.element] if value.element is not None and (word in _OF_MEMBERS or of_values) else []


def _of_key(frame: Frame, given: list[Value], key: Value, call: Call) -> Value:
    """What the key gives of a member."""
    from jaxlint.flow.calls.dispatch import call_value

    node = call.argument_node(len(given), "key")
    if isinstance(node, ast.Attribute) and node.attr in _LOOKUPS:  # `key=scores.get`
        table = look(frame, node.value)
        return element_of(table) if table.kind == TREE else UNKNOWN_VALUE
    sequence = given[0] if len(given) == 1 else join_all(given) or UNKNOWN_VALUE
    if sequence.kind == PARAMETER:
        member = UNKNOWN_VALUE  # the keys of a dict, or the rows of an array
    else:
        member = iterated(frame, as_keys(sequence), call.node, call.node) if len(given) == 1 else sequence
    frame.loop += 1
    result = call_value(frame, key, Call(call.node, [member], {}, decorator=True))
    frame.loop -= 1
    return result


def _first_compared(value: Value) -> Value:
    """Tuples and lists are compared by their first members first."""
    while value.kind == TREE and value.data.__class__ is list and value.data:
        value = value.data[0]
    return value
