"""How many bytes an element of an array takes, by its syntax: whether a donated buffer has an output of its size.

Known are dtypes that are named and the defaults of what makes arrays (float32, while the project leaves x64 off).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import FUNCTION, LAZY
from jaxlint.flow.program import LoadedModule, Program
from jaxlint.flow.syntax.bindings import Bindings
from jaxlint.index.walking import nodes_of, own_nodes
from jaxlint.index.written_names import dotted_name

_DEPTH = 7
_BYTES = {
    **dict.fromkeys(("bool", "bool_", "int8", "uint8"), 1),
    **dict.fromkeys(("int16", "uint16", "float16", "bfloat16", "half"), 2),
    **dict.fromkeys(("int32", "uint32", "float32"), 4),
}
_DEFAULT = 4
_SAME = frozenset(
    {"asarray", "array", "ascontiguousarray", "device_put", "block_until_ready", "stop_gradient", "copy"}
)
_MADE = frozenset({"zeros", "ones", "empty", "linspace", "eye", "identity"}) | frozenset(
    {"normal", "standard_normal", "uniform", "truncated_normal", "gumbel", "laplace", "exponential"}
)
# As wide as their argument, where its elements have the default width: `resize` makes floats of bytes.
_KEEPING = frozenset(
    {"resize", "roll", "flip", "reshape", "ravel", "squeeze", "transpose", "pad", "clip", "abs"}
    | {"sum", "mean", "max", "min", "prod", "std", "var", "cumsum", "dot", "matmul", "conv_general_dilated"}
    | {"exp", "log", "log1p", "sqrt", "square", "tanh", "relu", "gelu", "silu", "swish", "elu", "sigmoid"}
    | {"softplus", "softmax", "log_softmax", "logsumexp"}
)
_WIDENING = frozenset({"dtype", "preferred_element_type"})
_MEMBERS = frozenset(
    {"enumerate", "zip", "list", "tuple", "iter", "reversed", "tqdm"}
)  # their arguments' members
_MAPPING = frozenset({"jax.tree.map", "jax.tree_map", "jax.tree_util.tree_map"})
_LIKE = frozenset({"zeros_like", "ones_like", "full_like", "empty_like"})

Sizes = frozenset[int]


class At(NamedTuple):
    """Where an expression stands: its module and the function around it, None at the top level."""

    module: LoadedModule
    function: ast.AST | None = None


class ItemSizes:
    """Looks up the sizes of the elements of all arrays that an expression may hold; None where one is not known."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._looked_up: set[tuple[ast.AST, str]] = set()  # the names being looked up

    def of(self, node: ast.expr, at: At, depth: int = _DEPTH) -> Sizes | None:
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
        return self._called(node, at, depth) if isinstance(node, ast.Call) else None

    def returned(self, function: ast.AST, module: LoadedModule, depth: int = _DEPTH) -> Sizes | None:
        """Of what a function returns, or yields."""
        if isinstance(function, ast.Lambda):
            return self.of(function.body, At(module, function), depth)
        found = [n.value for n in own_nodes(function) if isinstance(n, (ast.Return, ast.Yield)) and n.value]
        return self._all(found, At(module, function), depth) if found else None

    def _all(self, nodes: Iterable[ast.expr], at: At, depth: int) -> Sizes | None:
        found: set[int] = set()
        for node in nodes:
            sizes = self.of(node, at, depth)
            if sizes is None:
                return None
            found |= sizes
        return frozenset(found)

    def _combined(self, node: ast.BinOp, at: At, depth: int) -> Sizes | None:
        """The wider of two arrays; a Python number takes the type of the array, but for a quotient of integers."""
        sides = [self.of(s, at, depth) for s in (node.left, node.right) if not isinstance(s, ast.Constant)]
        sizes = [size for known in sides if known is not None for size in known]
        if not sizes and None not in sides and sides:
            return frozenset()
        if not sizes or (None in sides and (max(sizes) < _DEFAULT or self._program.table.names_x64)):
            return None  # with x64 off nothing but complex numbers is wider than the default
        quotient = isinstance(node.op, ast.Div) and max(sizes) == 1
        return frozenset({_DEFAULT if quotient else max(sizes)})

    def _named(self, name: str, at: At, depth: int) -> Sizes | None:
        if at.function is not None:
            bound = Bindings(at.function).of(name)
            if bound and (at.function, name) in self._looked_up:
                return frozenset()  # `x = x.reshape(n)`: what it was before
            if name in _parameters(at.function) and not _always_bound(at.function, bound):
                return None if bound else self._passed(name, at, depth)
            if bound:
                self._looked_up.add((at.function, name))
                found = self._all(bound, at, depth)
                self._looked_up.remove((at.function, name))
                return found
        run_over = _run_over(at.function or at.module.tree, name)
        if run_over:
            return self._all(run_over, at, depth)
        bound = Bindings(at.module.tree).of(name)
        return self._all(bound, At(at.module), depth) if bound else None

    def _passed(self, name: str, at: At, depth: int) -> Sizes | None:
        """What the calls in the module pass for a parameter, if there are any."""
        function = at.function
        if not isinstance(function, ast.FunctionDef):
            return None
        parameters = _parameters(function)
        position = parameters.index(name) - (parameters[:1] == ["self"])
        found: set[int] = set()
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

    def _called(self, node: ast.Call, at: At, depth: int) -> Sizes | None:
        named = [
            size for a in (*node.args, *(k.value for k in node.keywords)) if (size := _size(a)) is not None
        ]
        if named:
            return frozenset(named[:1]) if len(named) == 1 else None
        if any(k.arg in _WIDENING for k in node.keywords):
            return None
        last = _last(node.func)
        first = node.args[0] if node.args else None
        method = node.func.value if isinstance(node.func, ast.Attribute) else None
        function = self._function(node.func, at)
        if function is not None:
            return self.returned(function.node, function.module, depth)
        if isinstance(node.func, ast.Name) and last in _MEMBERS:
            return self._all(node.args, at, depth)
        if last in _SAME and (first is not None or method is not None):
            return self.of(first if first is not None else method, at, depth)  # type: ignore[arg-type]  # one of the two is not None
        if last in _KEEPING:
            given = [self.of(array, at, depth) for array in (method, first) if array is not None]
            return next((kept for kept in given if kept is not None and kept <= {_DEFAULT}), None)
        if last in _LIKE and first is not None:
            return self.of(first, at, depth)
        if last in _MADE or last == "init" or _is_jitted_init(node):
            return None if self._program.table.names_x64 else frozenset({_DEFAULT})
        if dotted_name(node.func) in _MAPPING and isinstance(first, ast.Lambda):
            return self.of(first.body, At(at.module, first), depth)
        return None

    def _function(self, callee: ast.expr, at: At) -> Function | None:
        """A function of the project that is called by its name."""
        value = (at.module.names or {}).get(callee.id) if isinstance(callee, ast.Name) else None
        if value is not None and value.kind == LAZY:
            value = self._program.force(value)
        if value is None or value.kind != FUNCTION or value.data.transforms:
            return None
        function: Function = value.data.function
        return function


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
        return _last(callee) == function.name
    name = dotted_name(callee)
    classes = {c.name for c in nodes_of(tree, ast.ClassDef) if function in c.body}
    bound = [b for s in (scope, tree) if name and s is not None for b in Bindings(s).of(name)]
    return any(isinstance(b, ast.Call) and _last(b.func) in classes for b in bound)


def _size(node: ast.expr) -> int | None:
    """Of a dtype that is named: `jnp.uint8`, `"bfloat16"`."""
    if isinstance(node, ast.Constant):
        return _BYTES.get(node.value) if isinstance(node.value, str) else None
    return _BYTES.get(_last(node)) if isinstance(node, (ast.Name, ast.Attribute)) else None


def _is_jitted_init(node: ast.Call) -> bool:
    """`jax.jit(model.init)(key, x)`."""
    inner = node.func
    return isinstance(inner, ast.Call) and any(_last(argument) == "init" for argument in inner.args)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _parameters(function: ast.AST) -> list[str]:
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return []
    return [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
