"""What a `vmap` maps over, and what the mapped function makes and reads: told by their syntax."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import CONSTANT
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import Bindings
from jaxlint.flow.syntax.library_names import library_name
from jaxlint.flow.syntax.options import option_default, setting
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name, last_name
from jaxlint.pattern import pattern

_COPIES = frozenset({"tile", "repeat", "broadcast_to"})
_MAKERS = frozenset({"arange", "zeros", "ones", "full", "empty", "linspace", "eye", "meshgrid"}) | frozenset(
    {"normal", "uniform", "bernoulli", "truncated_normal"}
)
_INDICES = frozenset({"arange"})
_KEYS = pattern(r"(^|_)(sub|rng_|prng_)?(keys|rngs|subkeys)$|^seeds$")
MODELS = pattern(
    r"(^|_)(model|net|network|module|encoder|decoder|policy|critic|actor|apply|transformer|forward|mlp|unet)($|_|fn)"
)
_INDEXER_WRITES = frozenset({"set", "add", "multiply", "divide", "min", "max", "power", "apply"})
_SLICE_WRITES = frozenset(
    {"dynamic_update_slice", "dynamic_update_slice_in_dim", "dynamic_update_index_in_dim"}
)
_WIDE = 64  # elements that a mapped function makes by itself
_NOTABLE = 1 << 16  # elements of all variants together


class Sources:
    """Resolves what an expression of a function comes from, by its syntax."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.scopes: list[ast.AST] = []
        function = frame.function
        while function is not None:
            self.scopes.append(function.node)
            function = function.parent
        self.scopes.append(frame.module.tree)
        self._bindings: dict[ast.AST, Bindings] = {}

    def bound(self, name: str) -> list[ast.expr]:
        """The expressions bound to a name in the nearest scope that binds it; none for a parameter."""
        for scope in self.scopes:
            if name in _parameters(scope):
                return []
            bindings = self._bindings.setdefault(scope, Bindings(scope))
            if bindings.of(name):
                return bindings.of(name)
        return []

    def is_parameter(self, name: str) -> bool:
        return name in _parameters(self.scopes[0])

    def number(self, node: ast.expr | None, depth: int = 3) -> int | None:
        """The value of an expression of constants."""
        if isinstance(node, ast.Constant):
            return node.value if type(node.value) is int else None
        if isinstance(node, ast.Name) and depth:
            bound = self.bound(node.id)
            if len(bound) == 1:
                return self.number(bound[0], depth - 1)
            value = (self.frame.module.names or {}).get(node.id)
            known = value is not None and value.kind == CONSTANT and type(value.data) is int
            return value.data if known and not self.is_parameter(node.id) else None  # type: ignore[union-attr]  # not None if known
        if isinstance(node, ast.BinOp) and depth:
            a, b = self.number(node.left, depth - 1), self.number(node.right, depth - 1)
            if a is None or b is None:
                return None
            if isinstance(node.op, ast.Mult):
                return a * b
            if isinstance(node.op, ast.Add):
                return a + b
            if isinstance(node.op, ast.FloorDiv) and b:
                return a // b
            if isinstance(node.op, (ast.LShift, ast.Pow)) and 0 <= b < 64:
                return a << b if isinstance(node.op, ast.LShift) else int(a**b)
        kept = setting(self.frame.module, node) if self._is_of_module(node) else None
        if kept is not None:
            return kept.data if type(kept.data) is int else None
        return option_default(self.frame.module, node)

    def _is_of_module(self, node: ast.expr | None) -> bool:
        """`settings.size` of a name that no function around here binds."""
        owner = node.value if isinstance(node, ast.Attribute) else None
        return isinstance(owner, ast.Name) and not any(
            owner.id in _parameters(scope) or self._bindings.setdefault(scope, Bindings(scope)).of(owner.id)
            for scope in self.scopes[:-1]
        )


def _parameters(scope: ast.AST) -> set[str]:
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return set()
    args = scope.args
    return {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}


def variants_of(sources: Sources, node: ast.expr, depth: int) -> tuple[str, int | None]:
    """("keys", n), ("indices", n), ("draws", n), ("copies", n): variants of one thing that a call maps over;
    "parameter" where that is up to the caller, "data" otherwise."""
    if isinstance(node, ast.Name):
        if _KEYS.search(node.id):
            bound = sources.bound(node.id)
            known = variants_of(sources, bound[-1], depth - 1) if bound and depth else ("keys", None)
            return known if known[0] == "keys" else ("keys", None)
        bound = sources.bound(node.id)
        if bound and depth:
            return variants_of(sources, bound[-1], depth - 1)
        return ("parameter", None) if sources.is_parameter(node.id) else ("data", None)
    if isinstance(node, ast.Subscript):
        found = variants_of(sources, node.value, depth)
        return (found[0], None) if found[0] == "keys" else ("data", None)
    if isinstance(node, ast.BinOp):
        sides = [variants_of(sources, side, depth) for side in (node.left, node.right)]
        drawn = [side for side in sides if side[0] in ("draws", "indices")]
        return drawn[0] if drawn else ("data", None)
    if isinstance(node, ast.Call):
        dotted = library_name(sources.frame, node.func)
        head, _, last = dotted.rpartition(".")
        first = node.args[0] if node.args else None
        if dotted in ("jax.random.split", "jax.random.key", "jax.random.PRNGKey"):
            return "keys", sources.number(node.args[1]) if len(node.args) > 1 else None
        if head == "jax.random":
            return ("data", None) if _as_many_as_data(node) else ("draws", None)
        if head == "jax.numpy" and last in _INDICES and node.args:
            return "indices", _steps(sources, node.args)
        if head == "jax.numpy" and last in _COPIES:
            return "copies", None
        if head == "jax.numpy" and last in ("eye", "identity"):
            return "directions", sources.number(first)
    return "data", None


def _steps(sources: Sources, given: list[ast.expr]) -> int | None:
    """How many numbers `arange(start, stop, step)` gives."""
    numbers = [sources.number(node) for node in given]
    if None in numbers or len(numbers) > 3 or numbers[2:] == [0]:
        return None
    return len(range(*numbers))  # type: ignore[arg-type]  # no None in it


def _as_many_as_data(draw: ast.Call) -> bool:
    """`normal(key, x.shape)`, `uniform(key, (len(x),))`: one for each row of a batch, not many for one input."""
    given = [*draw.args[1:], *(k.value for k in draw.keywords if k.arg == "shape")]
    for shape in given:
        first = shape.elts[0] if isinstance(shape, (ast.Tuple, ast.List)) and shape.elts else shape
        if (
            isinstance(first, ast.Subscript)
            and isinstance(first.slice, ast.Constant)
            and first.slice.value == 0
        ):
            first = first.value
        if isinstance(first, ast.Attribute) and first.attr == "shape":
            return True
        if isinstance(first, ast.Call) and last_name(first.func) == "len":
            return True
    return False


def makes_arrays(sources: Sources, function: Function, variants: int | None) -> bool:
    """Whether the function makes arrays whose size its arguments do not give, and which the number of variants,
    where both are known, makes large."""
    own = {*function.params, *function.keyword_only}
    for node in own_nodes(function.node):
        if not isinstance(node, ast.Call):
            continue
        head, _, last = library_name(sources.frame, node.func).rpartition(".")
        if head not in ("jax.numpy", "jax.random") or last not in _MAKERS:
            continue
        sizes = node.args[1:2] if head == "jax.random" else node.args[:1]
        sizes = [*sizes, *(k.value for k in node.keywords if k.arg in ("shape", "num"))]
        if last == "linspace":
            sizes = [*node.args[2:3], *(k.value for k in node.keywords if k.arg == "num")]
        product, exact = 1, variants is not None
        for size in sizes:
            if any(isinstance(n, ast.Name) and n.id in own for n in walk(size)):
                break
            for part in size.elts if isinstance(size, (ast.Tuple, ast.List)) else [size]:
                number = sources.number(part)
                exact = exact and number is not None
                product *= number or 1
        if product >= _WIDE and not (exact and product * (variants or 1) < _NOTABLE):
            return True
    return False


def takes_scalars(function: Function | None) -> bool:
    """No parameter is indexed, measured or multiplied as a matrix: each is a number to the function."""
    if function is None:
        return False
    own = {*function.params, *function.keyword_only}
    for node in own_nodes(function.node):
        if isinstance(node, (ast.Subscript, ast.Attribute)) and dotted_name(node.value) in own:
            return False
        product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
        if product and not own.isdisjoint({dotted_name(node.left), dotted_name(node.right)}):  # type: ignore[attr-defined]  # a BinOp if it is a product
            return False
    return True


def captures_arrays(function: Function) -> bool:
    """Whether a nested function or lambda uses a variable of the function around it as a value."""
    outer = function.parent
    if outer is None:
        return False
    held = {*outer.params, *outer.keyword_only}
    held |= {n.id for n in own_nodes(outer.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    called = {n.func for n in walk(function.node) if isinstance(n, ast.Call)}
    return any(
        isinstance(n, ast.Name) and n.id in held - set(function.params) and n not in called
        for n in walk(function.node)
    )


def calls_model(function: Function) -> bool:
    """Whether the function runs a model, by the name of what it calls."""
    return any(
        isinstance(n, ast.Call)
        and bool(MODELS.search((dotted_name(n.func) or "").rpartition(".")[2].lower()))
        for n in walk(function.node)
    )


def writes_to_captured(
    sources: Sources, function: Function, own: set[str], shared: dict[str, ast.expr]
) -> bool:
    """`x.at[i].set(…)` of an outer array, or of one that all calls share, at a mapped index (`own` are the mapped
    parameters): a copy of it for each. One in a row of zeros is a unit vector, and wanted."""
    for node in own_nodes(function.node):
        written = _written(sources, node) if isinstance(node, ast.Call) else None
        if written is None:
            continue
        array = dotted_name(written[0])
        indices = {n.id for index in written[1] for n in walk(index) if isinstance(n, ast.Name)}
        if array is not None and array.partition(".")[0] not in own and indices & own:
            inner = Bindings(function.node).of(array)
            given = shared.get(array)
            bound = [given] if given is not None else sources.bound(array)
            bound += sources.bound(given.id) if isinstance(given, ast.Name) else []
            made = [dotted_name(m.func) or "" for m in bound if isinstance(m, ast.Call)]
            return not inner and not any("zeros" in name for name in made)
    return False


def _written(sources: Sources, node: ast.Call) -> tuple[ast.expr, list[ast.expr]] | None:
    """The array and the indices of `x.at[i].set(…)` and of `dynamic_update_slice(x, row, (i, 0))`."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in _INDEXER_WRITES:
        item = node.func.value
        if isinstance(item, ast.Subscript) and isinstance(item.value, ast.Attribute):
            return (item.value.value, [item.slice]) if item.value.attr == "at" else None
    if last_name(node.func) in _SLICE_WRITES and len(node.args) > 2:
        head = library_name(sources.frame, node.func).rpartition(".")[0]
        return (node.args[0], node.args[2:3]) if head == "jax.lax" else None
    return None
