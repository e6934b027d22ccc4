"""Expressions that come out the same each time their function runs: library functions of constants alone."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import API, CONSTANT, SCALAR
from jaxlint.flow.domain.values import PER_CALL
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import look, scope_of
from jaxlint.flow.syntax.ways import bound_in, parameters_of
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name
from jaxlint.jax_api.arrays import ARRAY_METHODS

_EVEN_LIBRARIES = ("numpy.", "jax.numpy.", "math.")
_BUILTINS = frozenset(
    {"range", "len", "int", "float", "min", "max", "abs", "tuple", "list", "zip", "enumerate"}
)


def is_settled(frame: Frame, node: ast.AST) -> bool:
    """Whether what the callers pass, or another call gave, has no part in an expression.

    A loop of the function itself may change any name from round to round; nothing is said inside one.
    """
    if frame.loops or frame.comprehensions:
        return False
    scope = scope_of(frame)
    ways, parameters = bound_in(scope), parameters_of(scope)
    seen: set[str] = set()
    pending: list[ast.AST] = [node]
    while pending:
        for part in walk(pending.pop()):
            if isinstance(part, ast.Call):
                if not _is_even(frame, part):
                    return False
            elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part.id not in seen:
                seen.add(part.id)
                if part.id in ways and part.id not in parameters:
                    made = ways[part.id]
                    if made is None:
                        return False
                    pending += [way for way, _ in made]
                elif not _is_fixed(frame, part):
                    return False
    return not seen & _written(scope)


def _is_even(frame: Frame, call: ast.Call) -> bool:
    """A function of a library, or a method of an array, that gives the same for the same arguments."""
    value = look(frame, call.func)
    if value.kind == API:
        _, _, builtin = value.data.partition("builtins.")
        return builtin in _BUILTINS or (
            value.data.startswith(_EVEN_LIBRARIES) and ".random" not in value.data
        )
    return isinstance(call.func, ast.Attribute) and call.func.attr in (*ARRAY_METHODS, "nonzero")


def _is_fixed(frame: Frame, name: ast.Name) -> bool:
    """A constant, or a number that nobody is seen to change: what a caller chooses is no data."""
    value = look(frame, name)
    chosen = value.kind == SCALAR and value.origin is None and value.varies <= PER_CALL
    return value.kind == API or chosen or (value.kind == CONSTANT and not value.varies)


def _written(scope: ast.AST) -> set[str]:
    """The names whose arrays are written into, or given to a call that keeps nothing."""
    found: set[str] = set()
    for node in own_nodes(scope):
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            found.add(dotted_name(node.value) or "")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            found.update(filter(None, map(dotted_name, walk(node.value))))
    return found
