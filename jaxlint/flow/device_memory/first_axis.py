"""Reductions and picks along the first axis, told by their syntax."""

from __future__ import annotations

import ast

from jaxlint.jax_api.arrays import REDUCTIONS

OWN_REDUCTIONS = REDUCTIONS - {"argmax", "argmin", "quantile", "percentile", "median", "average"}


def is_last(index: ast.expr) -> bool:
    return (
        isinstance(index, ast.UnaryOp)
        and isinstance(index.op, ast.USub)
        and isinstance(index.operand, ast.Constant)
        and index.operand.value == 1
    )


def over_first_axis(call: ast.Call, position: int) -> bool:
    """A reduction over axis 0, or over everything."""
    axis: ast.expr | None = call.args[position] if len(call.args) > position else None
    for keyword in call.keywords:
        if keyword.arg == "axis":
            axis = keyword.value
    if axis is None:
        return True
    return isinstance(axis, ast.Constant) and axis.value in (0, None)


def is_along_last(call: ast.Call) -> bool:
    """A call without an axis, or with the last one."""
    return all(k.arg == "axis" and is_last(k.value) for k in call.keywords)


def names_axis(call: ast.Call, position: int) -> bool:
    """Whether the reduction leaves the other axes alone."""
    given = [*call.args[position : position + 1], *(k.value for k in call.keywords if k.arg == "axis")]
    return any(isinstance(axis, ast.Constant) and axis.value == 0 for axis in given)
