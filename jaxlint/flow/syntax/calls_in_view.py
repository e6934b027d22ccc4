"""Who calls a function, and with what, by the syntax of its own module and of the root's."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.flow.domain.functions import Function
from jaxlint.flow.frame import Frame
from jaxlint.flow.program import LoadedModule
from jaxlint.flow.syntax.outputs import calls_of
from jaxlint.index.walking import nodes_of, own_nodes, walk
from jaxlint.index.written_names import dotted_name, last_name


class CallInView(NamedTuple):
    """A call and the function, or module, that it stands in."""

    module: LoadedModule
    scope: ast.AST
    node: ast.Call

    def passes(self, function: Function, parameter: str) -> ast.expr | None:
        """What the call passes for a parameter of the function, if it says so."""
        if parameter not in function.index:
            return None
        at = function.index[parameter] - (1 if function.is_method else 0)
        if 0 <= at < len(self.node.args):
            return self.node.args[at]
        return next((k.value for k in self.node.keywords if k.arg == parameter), None)


def calls_in_view(frame: Frame) -> Iterator[CallInView]:
    """The calls of the function that a frame runs: of its name, or of the one that a lambda is given."""
    function, top = frame.function, frame.run.top
    if function is None:
        return
    names = {function.name}
    if isinstance(function.node, ast.Lambda):
        named = (n for n in nodes_of(frame.module.tree, ast.Assign) if n.value is function.node)
        names = {last_name(target) for n in named for target in n.targets}
    modules = [frame.module]
    if top is not None and top.module is not frame.module:
        modules.append(top.module)
    for module in modules:
        for caller, node in (found for name in names for found in calls_of(module).get(name, ())):
            yield CallInView(module, caller.node if caller is not None else module.tree, node)


def passed_in_module(
    frame: Frame, function: Function, name: str
) -> Iterator[tuple[ast.expr | None, ast.AST]]:
    """What each call of the function in the module passes for a parameter, None where it does not, and the function
    (or module) in which it stands."""
    position = function.index.get(name, len(function.params)) - function.is_method
    tree = frame.module.tree
    for scope in (tree, *(n for n in walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)))):
        for node in own_nodes(scope):
            called = (dotted_name(node.func) or "") if isinstance(node, ast.Call) else ""
            if called == function.name or (function.is_method and called.endswith(f".{function.name}")):
                assert isinstance(node, ast.Call)
                word = next((k.value for k in node.keywords if k.arg == name), None)
                placed = node.args[position] if position < len(node.args) else None
                yield (word if word is not None else placed), scope
