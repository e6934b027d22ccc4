"""Whose new value each output of a function is, by its syntax: an output takes the buffer of the argument that it
replaces, and an argument that none replaces is only consumed."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import CONSTANT, TREE
from jaxlint.flow.domain.values import Value, is_number, parts
from jaxlint.flow.syntax.bindings import Bindings, returned
from jaxlint.index.walking import walk
from jaxlint.index.written_names import last_name
from jaxlint.jax_api.updating import (
    COPYING_METHODS,
    OPTIMIZER_STATE,
    OPTIMIZER_UPDATE,
    STORED_NOWHERE,
    UPDATING_LAST,
    UPDATING_METHODS,
    stem,
)

_DEPTH = 8
_REPLACING = UPDATING_METHODS | COPYING_METHODS

Owners = frozenset[str]
_NOBODY: Owners = frozenset()


def owners(function: Function, params: list[str], result: Value | None) -> Owners | None:
    """The parameters of which the outputs are the new values; None where it is not known of each of them."""
    node = function.node
    if isinstance(node, ast.Lambda) or result is None:
        return None
    returns = returned(node)
    if len(returns) != 1 or returns[0] is None:
        return None
    outputs, values = [returns[0]], [result]
    if isinstance(returns[0], ast.Tuple):
        if result.kind != TREE or result.data.__class__ is not list:
            return None
        outputs, values = returns[0].elts, result.data
    if len(outputs) != len(values):
        return None
    finder = _Owners(node, params)
    kept = (output for output, value in zip(outputs, values, strict=True) if not gives_only_numbers(value))
    found = _NOBODY
    for output in kept:
        new = finder.of(output, _DEPTH)
        if new is None or new & found:
            return None  # of two new values of one argument, the second may take the buffer of another
        found |= new
    return found


class _Owners:
    """Looks up whose new value an expression of one function is."""

    def __init__(self, function: ast.AST, params: list[str]) -> None:
        self._function = function
        self._params = params
        self._stems = {stem(name): name for name in params}
        self._bindings = Bindings(function)

    def all(self, nodes: Iterable[ast.expr], depth: int) -> Owners | None:
        found = _NOBODY
        for node in nodes:
            owners = self.of(node, depth)
            if owners is None:
                return None
            found |= owners
        return found

    def of(self, node: ast.expr, depth: int) -> Owners | None:
        if not depth:
            return None
        depth -= 1
        if isinstance(node, ast.Constant):
            return _NOBODY
        if isinstance(node, ast.Name):
            return self._named(node, depth)
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            return self.of(node.value, depth)
        if isinstance(node, (ast.Tuple, ast.List)):
            return self.all(node.elts, depth)
        if isinstance(node, ast.Dict):
            return self.all(node.values, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            # `params - rate * grads`; of arguments that meet the shape of neither is told.
            mentioned = {n.id for n in walk(node.right) if isinstance(n, ast.Name)} & set(self._params)
            owners = self.of(node.left, depth)
            return owners if owners is not None and mentioned <= owners else None
        return self._called(node, depth) if isinstance(node, ast.Call) else None

    def _named(self, node: ast.Name, depth: int) -> Owners | None:
        bound = [b for b in self._bindings.of(node.id) if (b.end_lineno or b.lineno) < node.lineno]
        if not bound and node.id in self._params:
            return frozenset({node.id})
        member = self._bindings.member(node.id)
        owners = None
        if bound and member is not None and member[0] is bound[-1]:
            owners = self._member(*member, depth)
        elif bound:
            owners = self.of(bound[-1], depth)
        if owners is None and stem(node.id) in self._stems:
            owners = frozenset({self._stems[stem(node.id)]})  # by its name
        return owners

    def _member(self, node: ast.expr, position: int, depth: int) -> Owners | None:
        """`updates, opt_state = optimizer.update(grads, opt_state)`."""
        if not isinstance(node, ast.Call) or last_name(node.func) != OPTIMIZER_UPDATE:
            return None
        if position != OPTIMIZER_STATE or len(node.args) <= OPTIMIZER_STATE:
            return None
        return self.of(node.args[OPTIMIZER_STATE], depth)

    def _called(self, node: ast.Call, depth: int) -> Owners | None:
        name = last_name(node.func)
        if any(isinstance(a, ast.Starred) for a in node.args):
            return None
        if name in _REPLACING and isinstance(node.func, ast.Attribute):
            return self._replaced(node, node.func.value, depth)
        if name in UPDATING_LAST:
            position = UPDATING_LAST[name]
            return self.of(node.args[position], depth) if position < len(node.args) else None
        if name[:1].isupper():  # a class that keeps what it is given
            return self.all([*node.args, *(k.value for k in node.keywords)], depth)
        return None

    def _replaced(self, node: ast.Call, base: ast.expr, depth: int) -> Owners | None:
        """`state.replace(params=…)`: what goes into a field that the function reads is taken for its new value."""
        found = self.of(base, depth)
        if found is None or node.args:
            return None
        read = {n.attr for n in walk(self._function) if isinstance(n, ast.Attribute)}
        for keyword in node.keywords:
            if keyword.arg is None:
                return None
            if keyword.arg in STORED_NOWHERE:
                continue
            owners = self.of(keyword.value, depth)
            if owners is None and keyword.arg not in read:
                return None
            found |= owners or _NOBODY
        return found


def gives_only_numbers(result: Value | None, depth: int = 0) -> bool:
    """No output can take a donated array: each is proven a number, or there is none."""
    if result is None or depth > 3:
        return False
    if result.kind == CONSTANT and result.data is None:
        return depth > 0
    if result.kind == TREE:
        members = parts(result)
        known = result.data is not None
        return known and bool(members) and all(gives_only_numbers(m, depth + 1) for m in members)
    return result.size == 1 or is_number(result)
