"""`def`: what it binds, after its decorators."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import BOUNDARY, FUNCTION
from jaxlint.flow.domain.values import Value
from jaxlint.flow.frame import Frame, evaluate, statement
from jaxlint.flow.statements.decorators import decorate
from jaxlint.flow.syntax.walking import walk


@statement(ast.FunctionDef, ast.AsyncFunctionDef)
def function_def(frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    module = frame.module
    function = module.functions.get(node)
    if function is None:
        function = module.functions[node] = Function(node, node.name, module, frame.defining, frame.function)
    if frame.function is None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                frame.in_default = True
                evaluate(frame, default)
                frame.in_default = False
    # A method sees the names around its class, not those of the class body.
    scope = frame.scope() if frame.defining is None else frame.defining.scope
    closure = Closure(function, scope, frame.evaluation, frame.loop, node)
    value = Value(FUNCTION, data=closure)
    if frame.defining is not None:
        frame.defining.methods[node.name] = function
    frame.names[node.name] = value
    _captured_boundaries(frame, node)
    for decorator in reversed(node.decorator_list):
        value = decorate(frame, evaluate(frame, decorator), value, decorator, function)
    frame.names[node.name] = value


def _captured_boundaries(frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """A boundary that a nested function closes over lives as long as that function may."""
    if frame.function is None:
        return
    held = {name for name, value in frame.names.items() if value.kind == BOUNDARY and name != node.name}
    if held:
        for child in walk(node):
            if isinstance(child, ast.Name) and child.id in held:
                frame.names[child.id].data.escapes = True
