"""Boundaries that are put where the code that made them does not see them again: containers, arguments of calls."""

from __future__ import annotations

from jaxlint.flow.domain.kinds import BOUNDARY, TREE
from jaxlint.flow.domain.values import Value
from jaxlint.flow.frame import Call


def escape_arguments(call: Call) -> None:
    """What is called may keep the boundaries among its arguments."""
    for value in call.positional:
        escape(value)
    for value in call.keywords.values():
        escape(value)


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
