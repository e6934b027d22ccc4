"""Where a variable of a function, or of a module, is read and bound: those of functions within are their own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.flow.frame import Frame
from jaxlint.index.walking import children, nodes_of, own_nodes, walk

_READS_ALL = frozenset({"eval", "exec", "locals", "vars"})


def parents_in(frame: Frame, scope: ast.AST) -> dict[ast.AST, ast.AST]:
    """The node around each node of a scope, found once in a run."""
    parents = frame.run.parents.get(scope)
    if parents is None:
        parents = {child: node for node in walk(scope) for child in children(node)}
        frame.run.parents[scope] = parents
    return parents


class ScopeNames:
    """The uses of the names of one function, or of a module's top level."""

    def __init__(self, frame: Frame, scope: ast.AST) -> None:
        self.scope = scope
        self._parent = parents_in(frame, scope)

    def loads(self, name: str) -> list[ast.Name]:
        return [n for n in self._named(name) if isinstance(n.ctx, ast.Load)]

    def stores(self, name: str) -> int:
        return sum(isinstance(n.ctx, ast.Store) for n in self._named(name))

    def loads_until_rebound(self, target: ast.Name) -> list[ast.Name] | None:
        """The reads of what one assignment binds, where a later one gives the name to another value: `grads =
        mean(grads)`. None unless both stand in the function's own body, one after the other, and no function within
        reads the name."""
        if not isinstance(self.scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        place: dict[ast.AST, int] = {statement: at for at, statement in enumerate(self.scope.body)}
        stores: list[int] = []
        loads: list[tuple[int, ast.Name]] = []
        for node in self._named(target.id):
            at = self._statement(node, place)
            if at is None:
                return None
            if isinstance(node.ctx, ast.Load):
                loads.append((at, node))
            elif isinstance(self.scope.body[at], ast.Assign):
                stores.append(at)
            else:
                return None
        first = self._statement(target, place)
        later = [at for at in stores if first is not None and at > first]
        if first is None or not later:
            return None
        return [node for at, node in loads if first < at <= min(later)]

    def _statement(self, node: ast.AST, place: dict[ast.AST, int]) -> int | None:
        """Which statement of the scope's body a node stands in; None in a function within."""
        at: ast.AST | None = node
        while at is not None and at not in place:
            if isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                return None
            at = self._parent.get(at)
        return None if at is None or isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef)) else place[at]

    def has_another_meaning(self, name: str) -> bool:
        """A parameter of that name, here or in a function within, or a variable that other functions share."""
        shared: list[str] = []
        for statement in (*nodes_of(self.scope, ast.Global), *nodes_of(self.scope, ast.Nonlocal)):
            assert isinstance(statement, (ast.Global, ast.Nonlocal))
            shared += statement.names
        return name in shared or any(parameter.arg == name for parameter in nodes_of(self.scope, ast.arg))

    def reads_every_name(self) -> bool:
        nodes = own_nodes(self.scope) if isinstance(self.scope, ast.Module) else walk(self.scope)
        called = (node.func for node in nodes if isinstance(node, ast.Call))
        return any(isinstance(function, ast.Name) and function.id in _READS_ALL for function in called)

    def _named(self, name: str) -> list[ast.Name]:
        """Where the scope's variable of that name stands: a function within that binds the name has its own."""
        found: list[ast.Name] = []
        for node in nodes_of(self.scope, ast.Name):
            if node.id == name and not any(_binds(inner, name) for inner in self._functions_around(node)):
                found.append(node)
        return found

    def _functions_around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The functions around a node that stand in the scope."""
        parent = self._parent.get(node)
        while parent is not None and parent is not self.scope:
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield parent
            parent = self._parent.get(parent)


def _binds(function: ast.AST, name: str) -> bool:
    own = {n.id for n in own_nodes(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    shared = {n for s in own_nodes(function) if isinstance(s, (ast.Global, ast.Nonlocal)) for n in s.names}
    return name in own - shared
