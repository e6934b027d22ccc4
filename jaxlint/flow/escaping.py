"""Boundaries that are put where the code that made them does not see them again."""

from __future__ import annotations

from jaxlint.flow.kinds import BOUNDARY
from jaxlint.flow.values import Value


def escape_all(values: list[Value]) -> None:
    """Boundaries put into containers are kept there."""
    for value in values:
        if value.kind == BOUNDARY:
            value.data.escapes = True
