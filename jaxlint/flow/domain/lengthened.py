"""What is known of an array that a concatenation made, see flow.growth."""

from __future__ import annotations

import ast
from typing import NamedTuple

from jaxlint.flow.domain.values import Origin


class Lengthened(NamedTuple):
    """Of a lengthened value: where its parts came from; of one that grows: the loop in which it was stored there
    again (None: on an object, in each call)."""

    paths: frozenset[str]
    loop: ast.AST | None = None
    path: str = ""  # where it was stored
    made: Origin | None = None  # what the data gave one of the parts its size by
