"""The arguments of a call bound to the parameters of a function, and the values of defaults."""

from __future__ import annotations

import ast
from typing import Any

from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import API, CLASS, CONSTANT, FUNCTION, LAZY, TREE
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value, tree
from jaxlint.flow.frame import Frame
from jaxlint.flow.program import LoadedModule, Program, api
from jaxlint.flow.syntax.options import setting
from jaxlint.jax_api.categories import category
from jaxlint.jax_api.precision import dtype_named

_FUNCTIONS = frozenset({"jnp", "lax", "numpy"})  # of arrays: `activation=jax.nn.relu`


def bind(
    closure: Closure,
    positional: list[Value],
    keywords: dict[str, Value],
    frame: Frame,
    starred: bool = False,
) -> dict[str, Value]:
    """Arguments by parameter name, bound ones and constant defaults included; what `**` takes in under that name,
    unless the call is `starred`: then some are not in view."""
    function = closure.function
    params = function.params
    bound: dict[str, Value] = {}
    start = 0
    if closure.receiver is not None and function.is_method and params:
        bound[params[0]] = closure.receiver
        start = 1
    if closure.dropped:
        positional = positional[closure.dropped :]
    values = [*closure.bound, *positional] if closure.bound else positional
    extra: list[Value] = []
    for offset, value in enumerate(values):
        if start + offset < len(params):
            bound[params[start + offset]] = value
        else:
            extra.append(value)
    if extra and function.variadic:
        bound["*"] = Value(TREE, 0, 0, extra)
    if closure.bound_keywords:
        keywords = {**closure.bound_keywords, **keywords}
    others: dict[Any, Value] = {}
    for name, value in keywords.items():
        if name in function.index or name in function.keyword_only:
            bound[name] = value
        else:
            others[name] = value
    if function.args.kwarg is not None and others and not starred:
        bound["**"] = tree(others)
    for name, default in function.defaults.items():
        if name not in bound:
            bound[name] = default_of(function, default, frame.run.program)
    return bound


def default_of(function: Function, node: ast.expr, program: Program) -> Value:
    """The value of a parameter's default, which may bear the name of a number, function or class of the module."""
    kept = setting(function.module, node) if function.parent is None else None
    if kept is not None:
        return kept
    if not isinstance(node, ast.Name):
        return default_value(node, function.module)
    if function.parent is not None or (function.cls is not None and node.id in function.cls.attributes):
        return UNKNOWN_VALUE  # another scope may have a name like that
    found = (function.module.names or {}).get(node.id)
    if found is not None and found.kind == LAZY:
        found = program.force(found)
    if found is None or found.kind in (FUNCTION, CLASS):
        return found or UNKNOWN_VALUE
    number = found.kind == CONSTANT and isinstance(found.data, (int, float, str))
    return Value(CONSTANT, data=found.data) if number else UNKNOWN_VALUE


def default_value(node: ast.expr, module: LoadedModule | None = None) -> Value:
    """The value of a default: only constants, tuples of them and dtypes are looked at."""
    if isinstance(node, ast.Constant):
        return Value(1, data=node.value)
    if isinstance(node, ast.Tuple) and all(isinstance(item, ast.Constant) for item in node.elts):
        return tree([default_value(item) for item in node.elts])
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        operand = node.operand.value
        if isinstance(operand, (int, float)):
            return Value(1, data=-operand)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and module is not None:
        owner = (module.names or {}).get(node.value.id)
        if owner is not None and owner.kind == API:
            named = api(f"{owner.data}.{node.attr}")
            known = dtype_named(named.data) or category(named.data)[0] in _FUNCTIONS
            return named if known else UNKNOWN_VALUE
    return UNKNOWN_VALUE
