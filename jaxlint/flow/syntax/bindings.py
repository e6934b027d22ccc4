"""What the names of a function were bound to, by its syntax: for rare constructs, looked at when a run is over."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxlint.index.walking import nodes_of, own_nodes

if TYPE_CHECKING:
    from jaxlint.flow.domain.values import Value
    from jaxlint.flow.frame import Frame


class Bindings:
    """The expressions that one function, or a module's top level, binds to its names."""

    def __init__(self, scope: ast.AST) -> None:
        self._bound: dict[str, list[ast.expr]] = {}
        self._members: dict[str, tuple[ast.expr, int]] = {}
        known = scope.__dict__.get("bound")
        if known is not None:
            self._bound, self._members = known
            return
        scope.__dict__["bound"] = self._bound, self._members  # once for each tree
        for node in own_nodes(scope):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._bind(target, node.value)
            elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
                self._bind(node.target, node.value)
            elif isinstance(node, (ast.For, ast.AsyncFor)):
                self._bind(node.target, node.iter)
            elif isinstance(node, (ast.With, ast.AsyncWith)):
                for item in node.items:
                    if item.optional_vars is not None:  # what it enters, which mostly gives itself
                        self._bind(item.optional_vars, item.context_expr)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._bound.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            self._bound.setdefault(f"{target.value.id}.{target.attr}", []).append(value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            matched = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
            for position, item in enumerate(target.elts):
                self._bind(item, value.elts[position] if matched else value)  # type: ignore[attr-defined]  # a display if matched
                if not matched and isinstance(item, ast.Name):
                    self._members[item.id] = value, position

    def of(self, name: str) -> list[ast.expr]:
        """What the name (`x`, `self.x`) was bound to, in source order; unpacking gives the member of a display, or
        the whole."""
        return self._bound.get(name, [])

    def member(self, name: str) -> tuple[ast.expr, int] | None:
        """What the name was last unpacked from, and its position there."""
        return self._members.get(name)


def returned(scope: ast.AST) -> list[ast.expr | None]:
    """What a function returns; of a name that is bound once, what that is: `answer = f(x); return answer`."""
    return [_once_bound(scope, n.value) for n in own_nodes(scope) if isinstance(n, ast.Return)]


def _once_bound(scope: ast.AST, node: ast.expr | None) -> ast.expr | None:
    if not isinstance(node, ast.Name) or any(a.arg == node.id for a in nodes_of(scope, ast.arg)):
        return node
    bindings = Bindings(scope)
    bound = bindings.of(node.id)
    return bound[0] if len(bound) == 1 and bindings.member(node.id) is None else node


def scope_of(frame: Frame) -> ast.AST:
    """The function that a frame runs, or its module's top level."""
    return frame.function.node if frame.function is not None else frame.module.tree


def bindings_of(frame: Frame) -> Bindings:
    """The bindings of the function that a frame runs, found once in a run."""
    scope = scope_of(frame)
    known = frame.run.bindings.get(scope)
    if known is None:
        known = frame.run.bindings[scope] = Bindings(scope)
    return known


def resolved(frame: Frame, node: ast.expr) -> ast.expr:
    """What a name was bound to, where that is one expression."""
    bound = bindings_of(frame).of(node.id) if isinstance(node, ast.Name) else []
    return bound[0] if len(bound) == 1 else node


def look(frame: Frame, node: ast.expr) -> Value:
    """The value of an expression, evaluated again without leaving anything."""
    from jaxlint.flow.frame import evaluate

    log, frame.log = frame.log, []
    frame.quiet += 1
    try:
        return evaluate(frame, node)
    finally:
        frame.quiet -= 1
        frame.log = log
