"""Functions that attention is spread over: from calls to what they return, from parameters to what is passed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import FUNCTION, INSTANCE
from jaxlint.flow.frame import Frame
from jaxlint.flow.program import LoadedModule
from jaxlint.flow.syntax.bindings import look
from jaxlint.flow.syntax.outputs import calls_of
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import last_name

_LOOPS = frozenset({"scan", "map", "fori_loop", "while_loop", "associative_scan"})


class Inside(NamedTuple):
    """A function's body, and the call by which it was entered from another, if that is how one came to it."""

    frame: Frame
    call: ast.Call | None = None
    outer: Inside | None = None

    def returned(self, call: ast.Call) -> list[tuple[ast.expr, Inside]]:
        """What the project's function that is called here returns."""
        function = callee_of(self.frame, call)
        if function is None:
            return []
        inside = Inside(frame_of(self.frame, function.module, function), call, self)
        values = (n.value for n in own_nodes(function.node) if isinstance(n, ast.Return))
        return [(value, inside) for value in values if value is not None]

    def passed(self, name: str) -> list[tuple[ast.expr, Inside]]:
        """What a parameter stands for: the argument of the call that led here, or of all that are in view."""
        function = self.frame.function
        if function is None:
            return []
        if self.call is not None and self.outer is not None:
            given = _argument(function, self.call, name)
            return [(given, self.outer)] if given is not None else []
        calls = calls_to(self.frame) if name in function.params else []
        found = ((_argument(function, call, name), caller) for caller, call in calls)
        return [(given, Inside(caller)) for given, caller in found if given is not None]

    def given(self, node: ast.expr) -> list[ast.expr]:
        """The arguments that the names in an expression stand for."""
        names = {n.id for n in walk(node) if isinstance(n, ast.Name)}
        return [given for name in names if self.call for given, _ in self.passed(name)]


def callee_of(frame: Frame, call: ast.Call) -> Function | None:
    """The function or method of the project that a call enters."""
    if not isinstance(call.func, (ast.Name, ast.Attribute)):
        return None
    value, function = look(frame, call.func), None
    if value.kind == FUNCTION:
        function = value.data.function
    elif value.kind == INSTANCE:
        function = value.data.cls.lookup("__call__")
    elif isinstance(call.func, ast.Attribute) and frame.cls is not None and _is_self(call.func.value):
        function = frame.cls.lookup(call.func.attr)
    return None if function is None or function.is_lambda else function


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def frame_of(frame: Frame, module: LoadedModule, function: Function | None) -> Frame:
    """Where a function's own expressions can be looked at."""
    frame.run.program.environment(module)
    return Frame(frame.run, module, frame.evaluation, function, frame.level, 0, None)


def calls_to(frame: Frame) -> list[tuple[Frame, ast.Call]]:
    """The calls of the function that a frame runs, in the modules that this run has looked into, each with where it
    stands."""
    function, program, found = frame.function, frame.run.program, []
    if function is None or function.is_lambda:
        return []
    for entry, site in program.table.callers(function.module.entry, function.record_name):
        module = program.load(entry) if entry.absolute in program.loaded else None
        if module is None or module.names is None:
            continue
        for caller, call in calls_of(module).get(function.name, ()):
            if module.place(call).span == site.span:
                found.append((frame_of(frame, module, caller), call))
    return found


def taken_as(function: Function, call: ast.Call, holds: Callable[[ast.expr], bool]) -> Iterator[str]:
    """The parameters that a call gives an argument of some kind to."""
    return (
        n for n in function.params if (given := _argument(function, call, n)) is not None and holds(given)
    )


def _argument(function: Function, call: ast.Call, name: str) -> ast.expr | None:
    """What a call passes for a parameter, None where that is not plain."""
    named = next((k.value for k in call.keywords if k.arg == name), None)
    if named is not None or name not in function.params:
        return named
    position = function.params.index(name) - (function.is_method and not function.is_static)
    plain = 0 <= position < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args)
    return call.args[position] if plain else None


def is_body_of_loop(frame: Frame, callers: int = 2) -> bool:
    """The function is handed to a scan or map, or is called by such functions alone: it works on one block at a
    time."""
    function = frame.function
    if function is None:
        return False
    if function.parent is not None and _is_handed(function, function.parent.node):
        return True
    calls = calls_to(frame) if callers else []
    return bool(calls) and all(is_body_of_loop(caller, callers - 1) for caller, _ in calls)


def _is_handed(function: Function, around: ast.AST) -> bool:
    loops = (n for n in walk(around) if isinstance(n, ast.Call) and last_name(n.func) in _LOOPS)
    given = [argument for loop in loops for argument in loop.args]
    return any(a is function.node or (isinstance(a, ast.Name) and a.id == function.name) for a in given)
