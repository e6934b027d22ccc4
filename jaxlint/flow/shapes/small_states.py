"""States that a boundary gives the new value of: small ones, told by the shapes of what they are at first."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.values import MEBIBYTE
from jaxlint.flow.program import LoadedModule, Program
from jaxlint.flow.shapes.array_shapes import ArrayShapes
from jaxlint.flow.shapes.shape_values import elements


def is_small_state(
    program: Program, module: LoadedModule, function: Function | None, call: ast.AST, state: ast.expr
) -> bool:
    """Whether an argument that a call replaces has less than 1 MiB. The result of the call has the shape of what it
    replaces, so what else binds the name decides."""
    shapes = ArrayShapes(program, besides=call)
    known = elements(shapes.of(state, shapes.around(module, function)))
    return known is not None and known < MEBIBYTE
