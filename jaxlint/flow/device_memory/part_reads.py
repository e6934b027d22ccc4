"""Where arrays that lie on the device are read part by part from the host: by syntax, when a run is over.

Followed are what holds them (a name, a field of `self`), other names for it, and the functions, constructors and
callers that it is handed to.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from jaxlint.flow.device_memory.data_parts import Held, is_part, other_names, part_of, returned
from jaxlint.flow.domain.classes import ClassInfo
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import CLASS, FUNCTION, LAZY
from jaxlint.flow.domain.values import Value
from jaxlint.flow.frame import Frame
from jaxlint.flow.program import LoadedModule
from jaxlint.flow.syntax.outputs import calls_of
from jaxlint.index.walking import REPEATING, children, nodes_of, walk
from jaxlint.index.written_names import dotted_name, last_name

_ITERATES = frozenset(
    {"__iter__", "__getitem__", "__next__", "next_batch", "get_batch", "sample", "sample_batch"}
)


class Scope(NamedTuple):
    """The code that is looked through: a function, a class or a module."""

    module: LoadedModule
    node: ast.AST


class PartRead(NamedTuple):
    module: LoadedModule
    node: ast.expr


class PartReads:
    """Looks for reads of a part, another one each time, outside any trace."""

    def __init__(self, frame: Frame, made: ast.AST) -> None:
        self._run = frame.run
        self._made = made  # the call that puts them there
        self._looping: dict[LoadedModule, set[str]] = {}
        self._entered: set[tuple[ast.AST, str]] = set()

    def of(self, held: Held, scope: Scope, looped: bool = False) -> Iterator[PartRead]:
        if (scope.node, held.name) in self._entered:
            return
        self._entered.add((scope.node, held.name))
        yield from self._below(scope.node, held, scope.module, looped, False)

    def returned_by(self, function: Function, position: int | None, held: Held) -> Iterator[PartRead]:
        """Those of what a function returns, or the member of it, where it is called: the name is the caller's."""
        top = self._run.top
        modules = [function.module]
        if top is not None and top.module is not function.module:
            modules.append(top.module)
        for module in modules:
            for caller, call in calls_of(module).get(function.name, ()):
                scope = caller.node if caller is not None else module.tree
                for target in _targets(scope, call, position):
                    yield from self._bound(target, held, module, caller)
                for outer in nodes_of(scope, ast.Call) if position is None else ():  # `fit(load(path))`
                    yield from self._passed(outer, _only(call, held), module)

    def in_class(self, cls: ClassInfo, held: Held) -> Iterator[PartRead]:
        """Those of a field of `self`, in the class and in those of its module that inherit from it."""
        family = [cls.node]
        for node in nodes_of(cls.module.tree, ast.ClassDef):
            if any(last_name(base) in {c.name for c in family} for base in node.bases):
                family.append(node)
        for node in family:
            yield from self.of(held, Scope(cls.module, node))

    def _bound(
        self, target: ast.expr, held: Held, module: LoadedModule, caller: Function | None
    ) -> Iterator[PartRead]:
        """Those of what has been bound to a name or a field."""
        name = dotted_name(target)
        if name is None:
            return
        if name.startswith("self.") and caller is not None and caller.cls is not None:
            yield from self.in_class(caller.cls, held._replace(name=name))
        else:
            scope = caller.node if caller is not None else module.tree
            yield from self.of(held._replace(name=name), Scope(module, scope))

    def _below(
        self, node: ast.AST, held: Held, module: LoadedModule, looped: bool, traced: bool
    ) -> Iterator[PartRead]:
        for child in children(node):
            inside, in_trace = looped, traced
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                in_trace = traced or module.functions.get(child) in self._run.traced
                inside = not isinstance(child, ast.Lambda) and child.name in self._called_in_loops(module)
            elif isinstance(child, REPEATING):
                inside = True
            if looped and not traced and isinstance(child, ast.expr) and is_part(child, held):
                yield PartRead(module, child)
            if not traced and child is not self._made:
                yield from self._handed_on(child, held, module, looped)
            yield from self._below(child, held, module, inside, in_trace)

    def _handed_on(self, node: ast.AST, held: Held, module: LoadedModule, looped: bool) -> Iterator[PartRead]:
        if isinstance(node, ast.Call):
            yield from self._passed(node, lambda given: part_of(given, held), module, looped)
        elif isinstance(node, ast.Return) and node.value is not None:
            around = self._around(node, module)
            for position, given in returned(node.value, held):
                if around is not None:
                    yield from self.returned_by(around, position, given)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for name, given in other_names(target, node.value, held):
                    yield from self._bound(name, given, module, self._around(node, module))

    def _around(self, node: ast.stmt, module: LoadedModule) -> Function | None:
        """The function that a statement stands in."""
        inside = [f for f in module.functions.values() if not f.is_lambda and node in walk(f.node)]
        return max(inside, key=lambda f: f.node.lineno, default=None)

    def _passed(
        self,
        call: ast.Call,
        part: Callable[[ast.expr], Held | None],
        module: LoadedModule,
        looped: bool = False,
    ) -> Iterator[PartRead]:
        """Those of what a call passes: `batches(data, 32)`, `Loader(data)`, `self.fit(data)`."""
        words = [(k.arg, given) for k in call.keywords if (given := part(k.value)) is not None]
        at = [(i, given) for i, a in enumerate(call.args) if (given := part(a)) is not None]
        for function in self._callees(call.func, module) if at or words else ():
            params = function.params[1:] if function.is_method else function.params
            for name, given in (*((params[i], g) for i, g in at if i < len(params)), *words):
                if name is not None and function not in self._run.traced:
                    scope = Scope(function.module, function.node)
                    yield from self.of(given._replace(name=name), scope, looped)

    def _callees(self, callee: ast.expr, module: LoadedModule) -> list[Function]:
        named = [f for f in module.functions.values() if f.name == last_name(callee)]
        if isinstance(callee, ast.Attribute):
            return [f for f in named if f.is_method] if len(named) == 1 else []
        value: Value | None = (module.names or {}).get(last_name(callee))
        if value is not None and value.kind == LAZY:
            value = self._run.program.force(value)
        if value is not None and value.kind == CLASS:
            constructor = value.data.lookup("__init__")
            return [constructor] if constructor is not None else []
        if value is not None and value.kind == FUNCTION and not value.data.function.is_method:
            return [value.data.function]
        return [f for f in named if not f.is_method]

    def _called_in_loops(self, module: LoadedModule) -> set[str]:
        known = self._looping.get(module)
        if known is None:
            loops = (loop for loop in walk(module.tree) if isinstance(loop, REPEATING))
            calls = (n for loop in loops for n in walk(loop) if isinstance(n, ast.Call))
            known = self._looping[module] = {*_ITERATES, *(last_name(n.func) for n in calls)}
        return known


def _targets(scope: ast.AST, call: ast.Call, position: int | None) -> Iterator[ast.expr]:
    """What the result of a call, or the member of it, is bound to."""
    for target in (t for n in nodes_of(scope, ast.Assign) if n.value is call for t in n.targets):
        members = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
        if position is None:
            yield target
        else:
            yield from members[position : position + 1]


def _only(node: ast.expr, held: Held) -> Callable[[ast.expr], Held | None]:
    """That one expression has it."""
    return lambda given: held if given is node else None
