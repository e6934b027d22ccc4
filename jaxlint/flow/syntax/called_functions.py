"""Functions of the project that are looked into from where they are called."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.frame import Frame


def receiving(frame: Frame, call: ast.Call, node: ast.AST) -> tuple[Function, str] | None:
    """The function or method of this module that a call enters, and the parameter that `node`, one of the call's
    positional arguments, becomes there; None where that is not plain."""
    position = next((i for i, argument in enumerate(call.args) if argument is node), None)
    if position is None or any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    callee = call.func
    function: Function | None = None
    if isinstance(callee, ast.Name):
        named = [f for f in frame.module.functions.values() if f.name == callee.id]
        plain = len(named) == 1 and named[0].cls is None and named[0].parent is None
        function = named[0] if plain else None
    elif isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name) and frame.cls is not None:
        function = frame.cls.lookup(callee.attr) if callee.value.id == "self" else None
        position += 1 if function is not None and not function.is_static else 0
    if function is None or function.module is not frame.module or position >= len(function.params):
        return None
    decorated = not isinstance(function.node, ast.Lambda) and function.node.decorator_list
    return None if decorated and not function.is_static else (function, function.params[position])


def frame_inside(frame: Frame, closure: Closure) -> Frame:
    """Where a function's own expressions can be looked at: its module's names and those around it."""
    function = closure.function
    frame.run.program.environment(function.module)
    return Frame(frame.run, function.module, frame.evaluation, function, frame.level, 0, closure.scope)
