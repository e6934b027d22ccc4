"""Boundaries that are put where the code that made them does not see them again: containers, arguments of calls."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.functions import Function, FunctionNode
from jaxlint.flow.domain.kinds import BOUNDARY, TREE
from jaxlint.flow.domain.values import Value
from jaxlint.flow.frame import Call
from jaxlint.index.walking import own_nodes, walk


def escape_arguments(call: Call) -> None:
    """What is called may keep the boundaries among its arguments."""
    for value in call.positional:
        escape(value)
    for value in call.keywords.values():
        escape(value)


def lend_arguments(call: Call, bound: dict[str, Value], function: Function) -> None:
    """A function of the project keeps none of the boundaries that it does no more with than call them. `bound` are
    the arguments by parameter."""
    lent = {id(v) for name, v in bound.items() if v.kind == BOUNDARY and _only_calls(function.node, name)}
    for value in call.values():
        if id(value) not in lent:
            escape(value)


def _only_calls(node: FunctionNode, name: str) -> bool:
    uses = {n for n in walk(node) if isinstance(n, ast.Name) and n.id == name}
    called = {n.func for n in own_nodes(node) if isinstance(n, ast.Call)}
    return uses <= called


def escape(value: Value) -> None:
    """Other code may keep this value."""
    if value.kind == BOUNDARY:
        value.data.escapes = True
    elif value.kind == TREE and value.data.__class__ is list:
        escape_all(value.data)


def escape_all(values: list[Value]) -> None:
    """Boundaries put into containers are kept there."""
    for value in values:
        if value.kind == BOUNDARY:
            value.data.escapes = True
