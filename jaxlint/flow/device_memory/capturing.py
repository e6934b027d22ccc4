"""What a jitted function reads from outside becomes a constant of its executable: arrays, models, parameters."""

from __future__ import annotations

import ast
from typing import Any

from jaxlint.flow.boundaries.described import describe
from jaxlint.flow.calls.instances import holds_arrays
from jaxlint.flow.domain.boundary_state import BoundaryState, Read
from jaxlint.flow.domain.kinds import API, CONCRETE, DEVICE, FOREIGN, INSTANCE, TREE, UNKNOWN
from jaxlint.flow.domain.tags import SMALL
from jaxlint.flow.domain.values import Value, parts
from jaxlint.flow.facts import Capture, CapturedConstants
from jaxlint.flow.frame import Frame
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.syntax.bindings import Bindings, bindings_of, look
from jaxlint.index.walking import nodes_of, walk
from jaxlint.index.written_names import dotted_name, last_name
from jaxlint.pattern import pattern

_MODELS = ("equinox.nn.", "flax.nnx.")
_NO_MODELS = ("flax.nnx.Rngs", "flax.nnx.Optimizer", "flax.nnx.ModelAndOptimizer", "flax.nnx.RngStream")
_NO_ARRAYS = pattern(r"(^|_)(keys?|rngs?|seed|abs|abstract|shapes?|structs?|specs?|shardings?)\d*$")
_PARAMETERS = pattern(r"params?$|parameters$|variables$|weights$|theta$|state_dict$")
_INITIALISERS = frozenset(
    {"init", "init_with_output", "from_pretrained", "load_params", "restore_checkpoint"}
)
_APPLYING = frozenset({"apply", "apply_fn"})
_CONVERSIONS = frozenset(
    {
        "asarray",
        "array",
        "float32",
        "float64",
        "bfloat16",
        "int32",
        "astype",
        "device_put",
        "static_cast",
        "f32",
        "f64",
    }
)
_UNKNOWN_SIZE = -1


class PendingCapture(PendingFact):
    """A boundary whose reads are looked at when every trace of it is known."""

    __slots__ = ("frame", "proof", "state", "symbol")

    def __init__(self, frame: Frame, state: BoundaryState) -> None:
        self.frame = frame
        self.state = state
        self.symbol = frame.symbol
        self.proof = frame.proof()

    def fact(self) -> CapturedConstants | None:
        found = [c for key, read in self.state.reads.items() if (c := self._capture(key, read)) is not None]
        found += self._receiver() or self._wrapped() or self._held()
        if not found:
            return None
        found.sort(key=lambda c: (c.what == "array", -(c.elements or 0), c.place))
        return CapturedConstants(
            found[0].place,
            self.symbol,
            self.proof,
            boundary=describe(self.state),
            captures=tuple(found[:8]),
            in_module=self._is_in_module(),
        )

    def _is_in_module(self) -> bool:
        function = self.frame.function
        while function is not None and function.cls is None:
            function = function.parent
        known = function is not None and function.cls is not None and function.cls.is_pytree_module
        return known and function is not None and function.name != "__init__"

    def _capture(self, key: Any, read: Read) -> Capture | None:
        value = read.value
        if value is None or (read.subject == "self attribute" and not self._is_bound()):
            return None
        name = f"self.{key[-1]}" if read.subject == "self attribute" else str(key[-1])
        what, elements = self._kind(key, read, value)
        if not what or (what == "array" and _NO_ARRAYS.search(name)):
            return None
        return Capture(name, read.module.place(read.node), what, elements)

    def _is_bound(self) -> bool:
        """A bound method is jitted: its instance is no argument. With a static `self` it is JAX108's matter."""
        closure = self.state.closure
        return closure is not None and (closure.receiver is not None or self.state.in_class is None)

    def _receiver(self) -> list[Capture]:
        """`jax.jit(model)` and `jax.jit(model.method)`: the module is no argument. Equinox takes it apart."""
        closure = self.state.closure
        receiver = closure.receiver if closure is not None else None
        if receiver is None or receiver.kind != INSTANCE or self.state.flavour == "filter":
            return []
        if receiver.data.cls.family not in ("equinox", "nnx") or not holds_arrays(receiver):
            return []
        return [Capture(receiver.data.cls.name, self.frame.place(self.state.node), "model", None)]

    def _wrapped(self) -> list[Capture]:
        """`jax.jit(jax.vmap(model))`: a module that is called, not passed."""
        node = self.state.node
        if self.state.closure is not None or self.state.flavour == "filter" or not isinstance(node, ast.Call):
            return []
        for part in walk(node.args[0]) if node.args else ():
            value = look(self.frame, part) if isinstance(part, (ast.Name, ast.Attribute)) else None
            name = dotted_name(part)
            if value is not None and name is not None and _is_model(value):
                return [Capture(name, self.frame.place(part), "model", None)]
        return []

    def _kind(self, key: Any, read: Read, value: Value) -> tuple[str, int | None]:
        kind = value.kind
        if kind in CONCRETE:
            vague = value.size is None and (value.tags & SMALL or self._is_converted(key, read))
            return ("", None) if vague else ("array", value.size)
        if kind in (INSTANCE, FOREIGN):
            return ("model", None) if _is_model(value) else ("", None)
        if kind == TREE:
            return _kind_of_tree(value, str(key[-1]))
        if kind == UNKNOWN and (self._is_initialised(key, read) or self._is_applied(read, str(key[-1]))):
            return "parameters", None
        return "", None

    def _is_applied(self, read: Read, name: str) -> bool:
        """A name from around is the first thing that `model.apply(params, x)` or `state.apply_fn(…)` gets."""
        closure = self.state.closure
        if closure is None or read.subject != "closure":
            return False
        calls = (c for c in nodes_of(closure.function.node, ast.Call) if c.args)
        return any(last_name(c.func) in _APPLYING and name in _names(c.args[0]) for c in calls)

    def _held(self) -> list[Capture]:
        """`jax.jit(partial(model.apply, params))`: what a partial holds is no argument."""
        node, closure = self.state.node, self.state.closure
        if self.state.flavour == "filter" or not isinstance(node, ast.Call) or not node.args:
            return []
        held = node.args[0]
        if isinstance(held, ast.Name):
            held = next(iter(bindings_of(self.frame).of(held.id)[-1:]), held)
        if not isinstance(held, ast.Call) or len(held.args) < 2 or not self._is_partial(held.func):
            return []
        if closure is None and last_name(held.args[0]) in _APPLYING:
            return [self._holding(held.args[1], "parameters", None)]
        found = []
        for given, value in zip(held.args[1:], closure.bound if closure is not None else [], strict=False):
            what, elements = ("model", None) if _is_model(value) else _kind_of_tree(value, ast.unparse(given))
            if what and not (what == "array" and elements is None):
                found.append(self._holding(given, what, elements))
        return found

    def _holding(self, node: ast.expr, what: str, elements: int | None) -> Capture:
        return Capture(ast.unparse(node), self.frame.place(node), what, elements)

    def _is_partial(self, callee: ast.expr) -> bool:
        value = look(self.frame, callee)
        return value.kind == API and value.data == "functools.partial"

    def _is_converted(self, key: Any, read: Read) -> bool:
        """`dt = jnp.asarray(dt)`: whatever was passed, perhaps a number, made an array."""
        bound = [value for node in _scopes(self.frame, key, read) for value in Bindings(node).of(key[-1])]
        return any(
            isinstance(value, ast.Call)
            and isinstance(value.func, (ast.Name, ast.Attribute))
            and (value.func.attr if isinstance(value.func, ast.Attribute) else value.func.id) in _CONVERSIONS
            and not any(
                isinstance(n, (ast.Call, ast.BinOp)) for argument in value.args for n in walk(argument)
            )
            for value in bound
        )

    def _is_initialised(self, key: Any, read: Read) -> bool:
        """The name was bound to what `model.init(…)` or a loader of parameters returned."""
        for node in _scopes(self.frame, key, read):
            if read.subject == "self attribute":
                bound = [n.value for n in nodes_of(node, ast.Assign) if _stores(n, key[-1])]
            else:
                bound = Bindings(node).of(key[-1])
            for value in bound:
                called = [n.func for n in walk(value) if isinstance(n, ast.Call) and n.args]
                if any(isinstance(f, ast.Attribute) and f.attr in _INITIALISERS for f in called):
                    return True
        return False


def _names(node: ast.expr) -> set[str]:
    return {n.id for n in walk(node) if isinstance(n, ast.Name)}


def _is_model(value: Value) -> bool:
    """A module of Equinox or NNX, or another pytree object, that holds arrays."""
    if value.kind == INSTANCE:
        return value.data.cls.family in ("equinox", "nnx", "struct", "pytree") and holds_arrays(value)
    if value.kind != FOREIGN:
        return False
    api: str = value.data.api
    return api.startswith(_MODELS) and api not in _NO_MODELS


def _scopes(frame: Frame, key: Any, read: Read) -> list[ast.AST]:
    if read.subject == "closure":
        return [f.node for f in read.module.functions.values() if not f.is_lambda]
    return [read.module.tree]


def _stores(node: ast.Assign, attr: str) -> bool:
    targets = [t for target in node.targets for t in walk(target)]
    return any(isinstance(t, ast.Attribute) and t.attr == attr for t in targets)


def _kind_of_tree(value: Value, name: str) -> tuple[str, int | None]:
    """A dict, list or tuple of device arrays."""
    sizes = _sizes(value, 0)
    if not sizes:
        return "", None
    total = None if _UNKNOWN_SIZE in sizes else sum(sizes)
    if total is None and value.tags & SMALL:
        return "", None
    return ("parameters" if total is None and _PARAMETERS.search(name) else "array"), total


def _sizes(value: Value, depth: int) -> list[int]:
    """The sizes of the device arrays in a tree."""
    if value.kind == DEVICE:
        return [value.size if value.size is not None else 0 if value.tags & SMALL else _UNKNOWN_SIZE]
    if value.kind == TREE and depth < 3:
        return [size for member in parts(value) for size in _sizes(member, depth + 1)]
    return []
