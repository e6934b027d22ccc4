"""What a call calls, and what a name of a module means, for the evaluation of shapes by syntax."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from jaxlint.flow.domain.classes import ClassInfo
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import API, BOUNDARY, CLASS, FUNCTION, LAZY
from jaxlint.flow.domain.values import Value
from jaxlint.flow.program import LoadedModule, Program
from jaxlint.flow.shapes.shape_values import Known
from jaxlint.flow.syntax.ways import bound_in
from jaxlint.index.walking import own_nodes

_TWO_TREES = frozenset(
    {"sgd", "adam", "adamw", "rmsprop", "adagrad", "lion", "lamb", "adamax", "nadam", "radam"}
)
_BUILTINS = frozenset({"len", "float", "int", "range", "min", "max"})
_GENERATORS = frozenset({"default_rng", "RandomState", "Generator"})


class Scope(NamedTuple):
    """A function, with what is known of its arguments, or the top level of a module."""

    module: LoadedModule
    node: ast.AST
    given: dict[str, Known]
    around: Scope | None = None  # the function that a nested one stands in

    def binds(self, name: str) -> bool:
        """Whether the function, or one around it, has a variable or a function of that name."""
        own = name in self.given or (self.node is not self.module.tree and name in bound_in(self.node))
        return own or (self.around is not None and (self.around.binds(name) or name in _nested(self.around)))


def _nested(scope: Scope) -> dict[str, ast.AST]:
    """The functions defined in a function, by name."""
    if scope.node is scope.module.tree:
        return {}
    known: dict[str, ast.AST] | None = scope.node.__dict__.get("nested")
    if known is None:
        defined = (n for n in own_nodes(scope.node) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)))
        known = scope.node.__dict__["nested"] = {n.name: n for n in defined}  # once for each tree
    return known


class Callees:
    """Resolves names that a scope does not bind itself."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def value(self, name: str, module: LoadedModule) -> Value | None:
        value = (module.names or {}).get(name)
        return self._program.force(value) if value is not None and value.kind == LAZY else value

    def function(self, callee: ast.expr, scope: Scope) -> Function | None:
        """A function of the project, or the one that a jit boundary wraps, called by its name or as a static method
        by that of its class."""
        named = callee.value if isinstance(callee, ast.Attribute) else callee
        if not isinstance(named, ast.Name) or scope.binds(named.id) or named.id in _nested(scope):
            return None
        value = self.value(named.id, scope.module)
        if isinstance(callee, ast.Attribute):
            value = value.data.attribute(callee.attr) if value is not None and value.kind == CLASS else None
        if value is None or value.kind not in (FUNCTION, BOUNDARY):
            return None
        closure = value.data if value.kind == FUNCTION else value.data.closure
        if closure is None or closure.transforms or closure.bound or closure.bound_keywords or closure.offset:
            return None
        function: Function = closure.function
        return None if function.is_classmethod or function.is_property else function

    def local(self, callee: ast.expr, scope: Scope) -> tuple[Function, Scope] | None:
        """A function, or a lambda, that stands in the function that calls it or in one around it, with where."""
        if isinstance(callee, ast.Lambda):
            found: ast.AST | None = callee
        elif not isinstance(callee, ast.Name) or scope.binds(callee.id):
            return self.local(callee, scope.around) if scope.around is not None else None
        else:
            found = _nested(scope).get(callee.id)
        function = scope.module.functions.get(found)  # type: ignore[call-overload]  # of no node: there is none
        return (function, scope) if function is not None else None

    def kept_fields(self, callee: ast.expr, scope: Scope) -> list[str] | None:
        """The fields of the class that is called, if it is one of the project that keeps its arguments as they
        are, and no others."""
        if not isinstance(callee, ast.Name) or scope.binds(callee.id):
            return None
        value = self.value(callee.id, scope.module)
        if value is None or value.kind != CLASS:
            return None
        cls: ClassInfo = value.data
        made = any(cls.lookup(name) is not None for name in ("__init__", "__new__", "__post_init__"))
        keeps = not made and (cls.dataclass or cls.family in ("namedtuple", "struct", "equinox"))
        return cls.all_fields() if keeps else None

    def api(self, callee: ast.expr, scope: Scope) -> str:
        """The canonical name of a library's function."""
        if isinstance(callee, ast.Attribute):
            head = self.api(callee.value, scope)
            return f"{head}.{callee.attr}" if head else ""
        if not isinstance(callee, ast.Name) or scope.binds(callee.id) or callee.id in _nested(scope):
            return ""
        value = self.value(callee.id, scope.module)
        if value is None:
            return f"builtins.{callee.id}" if callee.id in _BUILTINS else ""
        return str(value.data) if value.kind == API else ""

    def draws(self, node: ast.expr, scope: Scope) -> bool:
        """Whether an expression is a generator of numpy, whose methods draw."""
        return self._is_made_by(
            node, scope, lambda home, name: home == "numpy.random" and name in _GENERATORS
        )

    def is_optimizer(self, node: ast.expr, scope: Scope) -> bool:
        """Whether an expression is one of optax's optimisers that keep two trees at most, as most do."""
        return self._is_made_by(node, scope, lambda home, name: home == "optax" and name in _TWO_TREES)

    def _is_made_by(self, node: ast.expr, scope: Scope, does: Callable[[str, str], bool]) -> bool:
        """Whether an expression is a call of such a function, or a name that only such calls bind."""
        if isinstance(node, ast.Call):
            head, _, last = self.api(node.func, scope).rpartition(".")
            return does(head, last)
        if not isinstance(node, ast.Name):
            return False
        for at in (scope, Scope(scope.module, scope.module.tree, {})):
            ways = bound_in(at.node).get(node.id)
            if ways:
                return all(
                    not path and isinstance(n, ast.Call) and self._is_made_by(n, at, does) for n, path in ways
                )
        return False
