"""Inputs from a call in the source whose arguments can be evaluated without running the program.

`f(jnp.zeros((8, 128)), n=3)`, and names that are bound to such expressions before it: `model = MLP(4, key=key)`,
`state = optimiser.init(params)`. All of it is evaluated under `jax.eval_shape`, so no array is made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from . import abstract, methods

_DEEP = 30  # names looked up through each other

Scope = list[ast.stmt]


class NoCall(Exception):
    """There is no call to take arguments from. The text says why the last one did not serve."""


Call = tuple[tuple[Any, ...], dict[str, Any]]


def inputs(module: ModuleType, source: str, name: str) -> Call:
    """The arguments of the first call of `name`, a qualified name, that can be evaluated. Raises NoCall.

    Of a method the first one is the instance.
    """
    tree = ast.parse(source)
    owner, _, last = name.rpartition(".")
    method = methods.of(module, owner, last) if owner else None
    reason = f"no call of `{name}` is in its module"
    for call, scopes in _calls(tree, last):
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            continue
        try:
            return _evaluate(call, scopes, module, method)
        except methods.AnotherClass:
            continue
        except Exception as error:
            text = " ".join(str(error).split())[:120]
            reason = f"the call in line {call.lineno} cannot be evaluated ({type(error).__name__}: {text})"
    raise NoCall(reason)


def _calls(tree: ast.Module, name: str) -> Iterator[tuple[ast.Call, list[Scope]]]:
    """The calls of a name, each with the statements of the scopes around it, innermost first.

    What makes an instance callable is called by any name, and by none.
    """

    def within(node: ast.AST, scopes: list[Scope]) -> Iterator[tuple[ast.Call, list[Scope]]]:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            scopes = [node.body, *scopes]
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call):
                called = child.func
                last = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
                if last == name or (name == methods.CALL and isinstance(called, (ast.Name, ast.Call))):
                    yield child, scopes
            yield from within(child, scopes)

    yield from within(tree, [tree.body])


def _evaluate(call: ast.Call, scopes: list[Scope], module: ModuleType, method: methods.Method | None) -> Call:
    names = _Names(scopes, call.lineno, module)

    def arguments() -> Any:
        names.forget()
        args = tuple(names.value(argument) for argument in call.args)
        return args, {word.arg: names.value(word.value) for word in call.keywords if word.arg}

    def instance() -> Any:
        names.forget()
        called = call.func
        return names.value(called.value if isinstance(called, ast.Attribute) else called)

    first: tuple[Any, ...] = ()
    if method is not None and method.takes_instance:
        first = (methods.instance(instance, method.owner),)
    args, kwargs = abstract.abstractly(arguments)
    return (*first, *args), kwargs


class _Names(dict[str, Any]):
    """The names that a call sees, each evaluated when it is needed."""

    def __init__(self, scopes: list[Scope], line: int, module: ModuleType) -> None:
        super().__init__()
        self._scopes = scopes
        self._line = line
        self._module = module
        self._depth = 0

    def forget(self) -> None:
        """Begin anew: under another trace the values are others."""
        self.clear()

    def value(self, node: ast.expr) -> Any:
        """An expression's value. Raises what its evaluation raises."""
        code = compile(ast.Expression(node), "<arguments>", "eval")
        return eval(code, {"__builtins__": __builtins__}, self)

    def __missing__(self, name: str) -> Any:
        self._depth += 1
        try:
            if self._depth > _DEEP:
                raise RecursionError(f"`{name}` depends on itself")
            bound = self._bound(name)
            if bound is None:
                if not hasattr(self._module, name):
                    raise KeyError(name)  # a builtin
                value = getattr(self._module, name)
            else:
                value = bound()
            self[name] = value
            return value
        finally:
            self._depth -= 1

    def _bound(self, name: str) -> Any:
        """How to evaluate the last simple assignment of a name before the call; None where there is none."""
        for scope in self._scopes:
            found = None
            for statement in _before(scope, self._line):
                for target, value in _assignments(statement):
                    path = _path_to(target, name)
                    if path is not None:
                        found = (value, path)
            if found is not None:
                value, path = found
                return lambda value=value, path=path: _follow(self.value(value), path)
        return None


def _before(scope: Scope, line: int) -> Iterator[ast.stmt]:
    """The statements of a scope before a line, those in loops, branches and guards with it."""
    for statement in scope:
        if statement.lineno >= line:
            return
        yield statement
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for field in ("body", "orelse", "finalbody"):
                inner = getattr(statement, field, None)
                if isinstance(inner, list):
                    yield from _before(inner, line)


def _assignments(statement: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(statement, ast.Assign):
        return [(target, statement.value) for target in statement.targets]
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        return [(statement.target, statement.value)]
    return []


def _path_to(target: ast.expr, name: str) -> tuple[int, ...] | None:
    """Where in an unpacked value a name lies: () for the whole, (1, 0) for the first of the second."""
    if isinstance(target, ast.Name):
        return () if target.id == name else None
    if isinstance(target, (ast.Tuple, ast.List)):
        for index, element in enumerate(target.elts):
            path = _path_to(element, name)
            if path is not None:
                return (index, *path)
    return None


def _follow(value: Any, path: tuple[int, ...]) -> Any:
    for index in path:
        value = value[index]
    return value
