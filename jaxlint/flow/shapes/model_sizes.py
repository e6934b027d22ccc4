"""A bound on the parameters that `init` makes for a Flax or Haiku model: its layers by syntax, each as wide as the
widest thing in view. Unknown as soon as the model does anything that is not understood."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.kinds import API, CONSTANT, FUNCTION, INSTANCE, LAZY, MODULE
from jaxlint.flow.domain.sizes import element_count
from jaxlint.flow.domain.values import Value
from jaxlint.flow.frame import Call
from jaxlint.flow.program import Program
from jaxlint.flow.shapes.shape_values import Number, combined
from jaxlint.index.walking import walk
from jaxlint.jax_api.arrays import MEMBER_BY_MEMBER, REDUCTIONS
from jaxlint.jax_api.categories import canonical
from jaxlint.jax_api.layer_sizes import CONTEXT_LAYERS, LAYER_OPTIONS

_HOMES = frozenset({"jax.numpy", "jax.nn", "jax.lax", "numpy", "jax.scipy.special"})
_KEEPING = (
    MEMBER_BY_MEMBER | REDUCTIONS | {"softmax", "log_softmax", "cumsum", "stop_gradient", "flip", "roll"}
)
_METHODS = REDUCTIONS | {"astype", "squeeze"}
_JOINING = frozenset({"concatenate", "stack"})
_REPEATING = (
    *(ast.For, ast.While, ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp),
    *(ast.GeneratorExp, ast.AsyncFunctionDef, ast.AugAssign, ast.Starred, ast.Yield, ast.Await),
)
_SETTINGS = frozenset((API, CONSTANT, FUNCTION, MODULE))


class _NotUnderstood(Exception):
    pass


def made_by_init(program: Program, closure: Closure, call: Call) -> int | None:
    """A bound on the elements of what `init(key, x)` gives for a model."""
    if not (closure.initialises or (closure.applied is not None and closure.applied.name == "init")):
        return None
    if closure.transforms or closure.bound or closure.bound_keywords or call.starred:
        return None
    inputs = [element_count(v) for v in (*call.positional[closure.dropped :], *call.keywords.values())]
    known = [n for n in inputs if n is not None]
    defaults = closure.function.defaults.values()
    if len(known) < len(inputs) or not known or not all(isinstance(d, ast.Constant) for d in defaults):
        return None
    try:
        return _Model(program, closure).parameters(max(known))
    except _NotUnderstood:
        return None


class _Model:
    """The function that runs a model."""

    def __init__(self, program: Program, closure: Closure) -> None:
        self._program = program
        self._closure = closure
        self._module = closure.function.module

    def parameters(self, wide: int) -> int:
        """`wide` bounds the axes of what the model is given; the layers make no axis longer than their sizes."""
        layers: list[tuple[str, list[int]]] = []
        joined = 1
        for node in self._nodes():
            if isinstance(node, _REPEATING) or not self._is_plain(node):
                raise _NotUnderstood
            if isinstance(node, ast.Call):
                name = self._named(node.func)
                if name in CONTEXT_LAYERS:
                    layers.append((name, self._sizes(name, node)))
                elif name.rpartition(".")[2] in _JOINING and name.rpartition(".")[0] in _HOMES:
                    joined *= self._members(node)
                elif not self._keeps(name, node.func):
                    raise _NotUnderstood
        widest = max([wide, *(size for _, sizes in layers for size in sizes)]) * joined
        return sum(CONTEXT_LAYERS[name].made(widest, sizes) for name, sizes in layers)

    def _nodes(self) -> Iterator[ast.AST]:
        node = self._closure.function.node
        if isinstance(node, ast.Lambda):
            yield from walk(node.body)
            return
        decorators = [d.attr if isinstance(d, ast.Attribute) else "" for d in node.decorator_list]
        if any(name != "compact" for name in decorators):
            raise _NotUnderstood
        for statement in node.body:
            yield from walk(statement)

    def _is_plain(self, node: ast.AST) -> bool:
        """What is looked up is a variable of the function, a setting or a library's: no array from elsewhere."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = node.value.id
            if self._closure.receiver is None or self._closure.function.params[:1] != [owner]:
                return True
        elif not isinstance(node, ast.Name) or self._is_own(node.id):
            return True
        value = self._value(node)
        return value is not None and value.kind in _SETTINGS

    def _keeps(self, name: str, callee: ast.expr) -> bool:
        """What makes no axis longer: a layer applied, or a function of each element or along an axis."""
        if isinstance(callee, ast.Call):
            return True
        head, _, last = name.rpartition(".")
        if head in _HOMES:
            return last in _KEEPING
        return isinstance(callee, ast.Attribute) and not name and callee.attr in _METHODS

    def _members(self, node: ast.Call) -> int:
        listed = node.args[0] if node.args else None
        if not isinstance(listed, (ast.List, ast.Tuple)):
            raise _NotUnderstood
        return max(len(listed.elts), 1)

    def _sizes(self, name: str, node: ast.Call) -> list[int]:
        layer = CONTEXT_LAYERS[name]
        words = {k.arg: k.value for k in node.keywords}
        if any(word is None or word not in LAYER_OPTIONS | set(layer.sizes) for word in words):
            raise _NotUnderstood
        found: list[int] = []
        for position, size in enumerate(layer.sizes):
            given = node.args[position] if position < len(node.args) else words.get(size)
            members = given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]
            found += [self._number(member) for member in members if member is not None]
            if given is None:
                raise _NotUnderstood
        return found

    def _number(self, node: ast.expr) -> int:
        if isinstance(node, ast.BinOp):
            both = Number(self._number(node.left)), Number(self._number(node.right))
            made = combined(node.op, *both)
            number = made.value if isinstance(made, Number) else None
        elif isinstance(node, ast.Constant):
            number = node.value if type(node.value) is int else None
        else:
            value = self._value(node)
            number = value.data if value is not None and value.kind == CONSTANT else None
        if type(number) is not int or number < 0:
            raise _NotUnderstood
        return number

    def _value(self, node: ast.expr) -> Value | None:
        """`self.width`, a field of the module; a name around the function."""
        function = self._closure.function
        receiver = self._closure.receiver
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = receiver if function.params[:1] == [node.value.id] else None
            found: Value | None = (
                owner.data.fields.get(node.attr) if owner is not None and owner.kind == INSTANCE else None
            )
            return found
        if not isinstance(node, ast.Name) or self._is_own(node.id):
            return None
        scope = self._closure.scope
        while scope is not None:
            if node.id in scope.names:
                return scope.names[node.id]
            scope = scope.up
        value = (self._module.names or {}).get(node.id)
        return self._program.force(value) if value is not None and value.kind == LAZY else value

    def _is_own(self, name: str) -> bool:
        function = self._closure.function
        if name in function.params or name in function.keyword_only:
            return True
        stored = (n for n in self._nodes() if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        return any(n.id == name for n in stored)

    def _named(self, callee: ast.expr) -> str:
        """The canonical name of a library's function or class."""
        if isinstance(callee, ast.Attribute):
            head = self._named(callee.value)
            return canonical(f"{head}.{callee.attr}") if head else ""
        value = self._value(callee) if isinstance(callee, ast.Name) else None
        return str(value.data) if value is not None and value.kind == API else ""
