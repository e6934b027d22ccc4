"""How many bytes an element of an array takes, by its syntax: whether a donated buffer has an output of its size.

Known are dtypes that are named, what follows from them, and the defaults of what makes arrays (float32, while the
project leaves x64 off).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import CLASS, FUNCTION, LAZY
from jaxlint.flow.domain.values import Value
from jaxlint.flow.program import LoadedModule, Program
from jaxlint.flow.shapes.element_names import At, bound_to, dtype, number, parameters, written
from jaxlint.flow.shapes.element_types import (
    DEFAULT,
    FLOAT,
    KEEPING,
    Element,
    Elements,
    applied,
    combined,
)
from jaxlint.flow.syntax.bindings import Bindings
from jaxlint.index.walking import nodes_of, own_nodes, walk
from jaxlint.index.written_names import dotted_name

_DEPTH = 7
_SAME = frozenset(
    {"asarray", "array", "ascontiguousarray", "device_put", "block_until_ready", "stop_gradient", "copy"}
    | {"stack", "concatenate"}
)
_MADE = frozenset({"zeros", "ones", "empty", "linspace", "eye", "identity"}) | frozenset(
    {
        "normal",
        "standard_normal",
        "uniform",
        "truncated_normal",
        "gumbel",
        "laplace",
        "exponential",
        "randn",
        "rand",
    }
)
_WIDENING = frozenset({"dtype", "preferred_element_type"})
_MEMBERS = frozenset(
    {"enumerate", "zip", "list", "tuple", "iter", "reversed", "tqdm"}
)  # their arguments' members
_OF_FIRST = frozenset({"next", "islice", "cycle"})  # members of their first argument
_DRAWING = ("__iter__", "__next__", "__getitem__")
_MAPPING = frozenset({"jax.tree.map", "jax.tree_map", "jax.tree_util.tree_map"})
_LIKE = frozenset({"zeros_like", "ones_like", "full_like", "empty_like"})


class ItemSizes:
    """Looks up the elements of all arrays that an expression may hold; None where one is not known."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._x64 = program.table.names_x64
        self._looked_up: set[tuple[ast.AST, str]] = set()  # the names being looked up
        self._passed_for: dict[tuple[ast.AST | None, str], Elements] = {}

    def assume(self, function: ast.AST, parameter: str, elements: Elements) -> None:
        """What the calls of a function pass for a parameter, where they call it by another name."""
        self._passed_for[function, parameter] = elements

    def of(self, node: ast.expr, at: At, depth: int = _DEPTH) -> Elements | None:
        if not depth:
            return None
        depth -= 1
        if isinstance(node, ast.Name):
            return self._named(node.id, at, depth)
        if isinstance(node, (ast.Subscript, ast.Starred)):
            return self.of(node.value, at, depth)
        if isinstance(node, (ast.Tuple, ast.List)):
            return self._all(node.elts, at, depth)
        if isinstance(node, ast.Dict):
            return self._all(node.values, at, depth)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self.of(node.elt, at, depth)
        if isinstance(node, ast.DictComp):
            return self.of(node.value, at, depth)
        if isinstance(node, ast.IfExp):
            return self._all([node.body, node.orelse], at, depth)
        if isinstance(node, ast.BinOp):
            return self._combined(node, at, depth)
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand, at, depth)
        if isinstance(node, ast.Attribute):
            return self.of(node.value, at, depth) if node.attr in ("T", "mT") else None
        return self._called(node, at, depth) if isinstance(node, ast.Call) else None

    def returned(self, function: ast.AST, module: LoadedModule, depth: int = _DEPTH) -> Elements | None:
        """Of what a function returns, or yields."""
        if isinstance(function, ast.Lambda):
            return self.of(function.body, At(module, function), depth)
        found = _given(function)
        return self._all(found, At(module, function), depth) if found else None

    def _all(self, nodes: Iterable[ast.expr], at: At, depth: int) -> Elements | None:
        found: set[Element] = set()
        for node in nodes:
            sizes = self.of(node, at, depth)
            if sizes is None:
                return None
            found |= sizes
        return frozenset(found)

    def _combined(self, node: ast.BinOp, at: At, depth: int) -> Elements | None:
        numbers = [number(side, at) for side in (node.left, node.right)]
        sides = (node.left, node.right)
        arrays = [self.of(s, at, depth) for s, kind in zip(sides, numbers, strict=True) if not kind]
        known = [elements for elements in arrays if elements is not None]
        if not known:
            return None
        if len(known) < len(arrays):  # with x64 off nothing but complex numbers is wider than the default
            wide = all(element.bytes == DEFAULT.bytes for elements in known for element in elements)
            return frozenset({DEFAULT}) if wide and any(known) and not self._x64 else None
        return combined(node.op, filter(None, known), filter(None, numbers)) if any(known) else frozenset()

    def _named(self, name: str, at: At, depth: int) -> Elements | None:
        if at.function is not None:
            bound = Bindings(at.function).of(name)
            if bound and (at.function, name) in self._looked_up:
                return frozenset()  # `x = x.reshape(n)`: what it was before
            if name in parameters(at.function) and not _always_bound(at.function, bound):
                return None if bound else self._passed(name, at, depth)
            if bound:
                self._looked_up.add((at.function, name))
                found = self._unpacked(name, bound, at, depth)
                self._looked_up.remove((at.function, name))
                if found and len(bound) > 1 and any(isinstance(n, ast.BinOp) for b in bound for n in walk(b)):
                    return found | {FLOAT} if any(e.is_integer for e in found) else found  # `x = x / 255`
                return found
        run_over = _run_over(at.function or at.module.tree, name)
        if run_over:
            return self._all(run_over, at, depth)
        bound = Bindings(at.module.tree).of(name)
        return self._unpacked(name, bound, At(at.module), depth) if bound else None

    def _unpacked(self, name: str, bound: list[ast.expr], at: At, depth: int) -> Elements | None:
        """Of all that is bound to a name; of the member of it that the name is unpacked from, where that is one of
        the tuples that a function gives: `for frames, labels in batches()`."""
        member = Bindings(at.function or at.module.tree).member(name)
        if member is not None and bound == [member[0]]:
            part = self._member(member[0], member[1], at, depth)
            if part is not None:
                return part
        return self._all(bound, at, depth)

    def _member(self, node: ast.expr, position: int, at: At, depth: int) -> Elements | None:
        if not isinstance(node, ast.Call):
            return None
        if written(node.func) == "enumerate" and node.args:
            return self.of(node.args[0], at, depth) if position == 1 else None
        if written(node.func) == "zip":
            return self.of(node.args[position], at, depth) if position < len(node.args) else None
        function = self._function(node.func, at)
        given = _given(function.node) if function is not None else []
        if function is None or not given or not all(isinstance(g, ast.Tuple) for g in given):
            return None
        parts = [g.elts[position : position + 1] for g in given if isinstance(g, ast.Tuple)]
        return (
            self._all([p[0] for p in parts], At(function.module, function.node), depth)
            if all(parts)
            else None
        )

    def _passed(self, name: str, at: At, depth: int) -> Elements | None:
        """What the calls in the module pass for a parameter, if there are any."""
        function = at.function
        assumed = self._passed_for.get((function, name))
        if assumed is not None or not isinstance(function, ast.FunctionDef):
            return assumed
        names = parameters(function)
        position = names.index(name) - (names[:1] == ["self"])
        found: set[Element] = set()
        tree = at.module.tree
        for scope in (None, *nodes_of(tree, ast.FunctionDef), *nodes_of(tree, ast.AsyncFunctionDef)):
            for node in own_nodes(scope or tree):
                if not isinstance(node, ast.Call) or not _may_call(node.func, function, scope, tree):
                    continue
                word = next((k.value for k in node.keywords if k.arg == name), None)
                given = word or (node.args[position] if 0 <= position < len(node.args) else None)
                sizes = self.of(given, At(at.module, scope), depth) if given is not None else None
                if sizes is None:
                    return None
                found |= sizes
        return frozenset(found) or None

    def _called(self, node: ast.Call, at: At, depth: int) -> Elements | None:
        arguments = (*node.args, *(k.value for k in node.keywords))
        asked = [element for a in arguments if (element := dtype(a, at, self._x64)) is not None]
        if asked:
            return frozenset(asked) if len(asked) == 1 else None
        if any(k.arg in _WIDENING for k in node.keywords):
            return None
        last = written(node.func)
        first = node.args[0] if node.args else None
        method = node.func.value if isinstance(node.func, ast.Attribute) else None
        function = self._function(node.func, at)
        if function is not None:
            return self.returned(function.node, function.module, depth)
        if last in _OF_FIRST and first is not None:
            return self.of(first, at, depth)
        if isinstance(node.func, ast.Name) and last in _MEMBERS:
            return self._all(node.args, at, depth)
        if last == "map" and len(node.args) == 2 and written(node.args[0]) in _SAME:
            return self.of(node.args[1], at, depth)
        if last in _SAME and (first is not None or method is not None):
            return self.of(first if first is not None else method, at, depth)  # type: ignore[arg-type]  # one of the two is not None
        if last in KEEPING:
            given = [self.of(array, at, depth) for array in (method, first) if array is not None]
            kept = next((elements for elements in given if elements is not None), None)
            made = {applied(last, element) for element in kept or ()}
            return None if kept is None or None in made else frozenset(e for e in made if e is not None)
        if last == "astype" and isinstance(first, ast.Attribute) and first.attr == "dtype":
            return self.of(first.value, at, depth)
        if last in _LIKE and first is not None:
            return self.of(first, at, depth)
        if last in _MADE or last == "init" or _is_jitted_init(node):
            return None if self._x64 else frozenset({DEFAULT})
        if first is not None and (element := dtype(node.func, at, self._x64)) is not None:  # `jnp.float32(x)`
            return frozenset({element})
        if dotted_name(node.func) in _MAPPING and isinstance(first, ast.Lambda):
            return self.of(first.body, At(at.module, first), depth)
        return None

    def _function(self, callee: ast.expr, at: At) -> Function | None:
        """A function of the project that is called by its name; a method of an object that is made in view, or of
        the class around; what gives the members of an object of the class that is called."""
        if isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name):
            return self._method(callee.value.id, callee.attr, at)
        value = self._value(callee, at)
        if value is not None and value.kind == CLASS:
            return next((m for name in _DRAWING if (m := value.data.lookup(name)) is not None), None)
        if value is None or value.kind != FUNCTION or value.data.transforms:
            return None
        function: Function = value.data.function
        return function

    def _method(self, owner: str, name: str, at: At) -> Function | None:
        around = at.module.functions.get(at.function) if at.function is not None else None  # type: ignore[call-overload]  # a function's node
        if owner == "self" and around is not None and around.cls is not None:
            found: Function | None = around.cls.lookup(name)
            return found
        bound = bound_to(owner, at)
        value = self._value(bound[0].func, at) if len(bound) == 1 and isinstance(bound[0], ast.Call) else None
        return value.data.lookup(name) if value is not None and value.kind == CLASS else None

    def _value(self, callee: ast.expr, at: At) -> Value | None:
        """What a name of the module stands for."""
        value = (at.module.names or {}).get(callee.id) if isinstance(callee, ast.Name) else None
        return self._program.force(value) if value is not None and value.kind == LAZY else value


def _given(function: ast.AST) -> list[ast.expr]:
    """What a function returns, or yields."""
    if isinstance(function, ast.Lambda):
        return [function.body]
    return [n.value for n in own_nodes(function) if isinstance(n, (ast.Return, ast.Yield)) and n.value]


def _run_over(scope: ast.AST, name: str) -> list[ast.expr]:
    """What the comprehensions run over that have a variable of that name."""
    return [
        n.iter
        for n in own_nodes(scope)
        if isinstance(n, ast.comprehension)
        and any(isinstance(t, ast.Name) and t.id == name for t in ast.walk(n.target))
    ]


def _always_bound(function: ast.AST, bound: list[ast.expr]) -> bool:
    """The function binds it under no test: what was passed is gone."""
    body = getattr(function, "body", [])
    straight = {id(s.value) for s in body if isinstance(s, ast.Assign)} if isinstance(body, list) else set()
    return bool(bound) and all(id(value) in straight for value in bound)


def _may_call(callee: ast.expr, function: ast.FunctionDef, scope: ast.AST | None, tree: ast.Module) -> bool:
    """By the name of the function; `__call__` by that of an object that is made of its class."""
    if function.name != "__call__":
        return written(callee) == function.name
    name = dotted_name(callee)
    classes = {c.name for c in nodes_of(tree, ast.ClassDef) if function in c.body}
    bound = [b for s in (scope, tree) if name and s is not None for b in Bindings(s).of(name)]
    return any(isinstance(b, ast.Call) and written(b.func) in classes for b in bound)


def _is_jitted_init(node: ast.Call) -> bool:
    """`jax.jit(model.init)(key, x)`."""
    inner = node.func
    return isinstance(inner, ast.Call) and any(written(argument) == "init" for argument in inner.args)
