"""`def`: what it binds, after its decorators."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import BOUNDARY, FUNCTION
from jaxlint.flow.domain.values import Value
from jaxlint.flow.frame import Frame, evaluate, statement
from jaxlint.flow.statements.decorators import decorate
from jaxlint.flow.syntax.library_names import library_name
from jaxlint.index.walking import walk
from jaxlint.jax_api.solvers import ON_HOST


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
    if held and not _stays_inside(frame, frame.function.node, node):
        for child in walk(node):
            if isinstance(child, ast.Name) and child.id in held:
                frame.names[child.id].data.escapes = True


def _stays_inside(frame: Frame, around: ast.AST, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a nested function is only called where it is defined, or handed to an optimiser that is done with it
    when it returns."""
    if node.decorator_list:
        return False
    inside = set(walk(node))
    uses = [n for n in walk(around) if isinstance(n, ast.Name) and n.id == node.name and n not in inside]
    calls = [n for n in walk(around) if isinstance(n, ast.Call) and n not in inside]
    called = {call.func for call in calls}
    lent = {
        a
        for call in calls
        for a in (*call.args, *(k.value for k in call.keywords))
        if library_name(frame, call.func).startswith(ON_HOST)
    }
    return bool(uses) and all(use in called or use in lent for use in uses)
