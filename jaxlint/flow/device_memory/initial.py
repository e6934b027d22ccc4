"""Parameters made outside jit: by a forward pass, by a mapped constructor, or in another shape than is wanted."""

from __future__ import annotations

import ast

from jaxlint.flow.device_memory.variants import Sources, variants_of
from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import API, FOREIGN, FUNCTION, INSTANCE, UNKNOWN
from jaxlint.flow.domain.objects import Foreign
from jaxlint.flow.domain.values import DEVICE_VALUE, TRACED_VALUE, Value
from jaxlint.flow.evaluations import with_all_called
from jaxlint.flow.facts import EagerInit
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.syntax.bindings import look, scope_of
from jaxlint.flow.syntax.entries import called_at
from jaxlint.index.walking import children, own_nodes, walk
from jaxlint.index.written_names import dotted_name
from jaxlint.jax_api.categories import INITIALIZERS
from jaxlint.jax_api.transforms import JIT
from jaxlint.pattern import pattern

_MODELS = pattern(r"(^|_)(model|net|network|module|policy|critic|actor|encoder|decoder|transformer)(_def)?$")
_KEY = pattern(r"(^|_)(key|rng|rngs|seed|subkey|prng)(\d|_|$)")
_MAKERS = pattern(r"(^|_)(init|make|create|build|new)(_|$)")
_MOVING = frozenset({"transpose", "swapaxes", "moveaxis", "squeeze", "permute_dims", "matrix_transpose"})
# Initialisers that make the array at once; the others of their modules are given settings first.
_DIRECT = frozenset({"zeros", "ones", "zeros_init", "ones_init"})


@api_call("initializer")
def initializer(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`jax.nn.initializers.normal(0.02)`: a function from a key and a shape to an array."""
    if last in _DIRECT and len(call.positional) > 1:
        return made_array(frame, call)
    return Value(FOREIGN, data=Foreign(dotted, None, 0, call.node))


def made_array(frame: Frame, call: Call) -> Value:
    """An initialiser is called with a key and a shape."""
    if frame.level:
        return TRACED_VALUE
    if not frame.quiet and isinstance(call.node, ast.Call):
        frame.log.append(PendingReshape(frame, call.node))
    return DEVICE_VALUE


def note_init(frame: Frame, node: ast.Call, callee: Value, receiver: Value | None) -> None:
    """`model.init(key, x)` outside jit runs the whole model, operation by operation."""
    if frame.quiet or frame.level or not (node.args or node.keywords):
        return
    owner = dotted_name(node.func.value) or ""  # type: ignore[attr-defined]  # only called for attributes
    if receiver is not None and receiver.kind == INSTANCE:
        runs = receiver.data.cls.family == "linen"
    elif receiver is not None and receiver.kind == UNKNOWN:
        words = owner.rpartition(".")[2].lower()
        runs = len(node.args) > 1 and bool(_MODELS.search(words)) and _is_key(node.args[0])
    else:
        haiku = callee.kind == FUNCTION and callee.data.dropped
        runs = bool(haiku) or (callee.kind == API and str(callee.data).startswith("flax.linen."))
    if runs:
        frame.record(
            EagerInit(
                frame.place(node), frame.symbol, frame.proof(), how="forward", name=owner.rpartition(".")[2]
            )
        )


def _is_key(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return (dotted_name(node.func) or "").rpartition(".")[2] in ("key", "PRNGKey", "split", "make_rng")
    if isinstance(node, ast.Dict):
        return True  # {"params": key, "dropout": key}
    return bool(_KEY.search((dotted_name(node) or "").rpartition(".")[2].lower()))


def note_mapped_init(frame: Frame, closure: Closure, call: Call) -> None:
    """`vmap(make_layer)(keys)` outside jit."""
    node = call.node
    if frame.quiet or frame.level or call.decorator or not isinstance(node, ast.Call) or not node.args:
        return
    if closure.transforms and closure.transforms[-1][1] == "vmap":
        frame.log.append(PendingMappedInit(frame, node, closure.function))


class PendingMappedInit(PendingFact):
    """A call of a mapped function that may make parameters."""

    __slots__ = ("frame", "function", "node", "proof")

    def __init__(self, frame: Frame, node: ast.Call, function: Function) -> None:
        self.frame = frame
        self.node = node
        self.function = function
        self.proof = frame.proof()

    def fact(self) -> EagerInit | None:
        kinds = [
            variants_of(Sources(self.frame), a, 3) for a in self.node.args if not isinstance(a, ast.Starred)
        ]
        keys = next((k for k in kinds if k[0] == "keys"), None)
        if keys is None:
            return None
        if not _makes_parameters(self.frame, self.function) and not _initialises(self.frame, self.node):
            return None
        name = "" if self.function.is_lambda else self.function.name
        return EagerInit(
            self.frame.place(self.node),
            self.frame.symbol,
            self.proof,
            how="mapped",
            name=name,
            number=keys[1],
        )


def _makes_parameters(frame: Frame, function: Function) -> bool:
    """By its name, or because it returns what a class or an `init` makes."""
    if function.name == "__init__" or _MAKERS.search(function.name):
        return True
    node = function.node
    returned = (
        [node.body]
        if isinstance(node, ast.Lambda)
        else [n.value for n in own_nodes(node) if isinstance(n, ast.Return)]
    )
    for value in returned:
        if isinstance(value, ast.Call):
            name = (dotted_name(value.func) or "").rpartition(".")[2]
            if name == "init" or name[:1].isupper():
                return True
    return False


def _initialises(frame: Frame, node: ast.Call) -> bool:
    """Whether what a call runs outside jit, or what that calls, draws from an initialiser, which makes parameters
    and nothing else."""
    for at in (e.frame for e in with_all_called(called_at(frame, node)) if e.level < JIT):
        for part in own_nodes(scope_of(at)) if at is not None else ():
            callee = look(at, part.func) if isinstance(part, ast.Call) and at is not None else None
            if callee is not None and callee.kind == FOREIGN and callee.data.api.startswith(INITIALIZERS):
                return True
    return False


class PendingReshape(PendingFact):
    """An array that an initialiser made; what is done with it at once is looked up when the run is over."""

    __slots__ = ("frame", "node", "proof")

    def __init__(self, frame: Frame, node: ast.Call) -> None:
        self.frame = frame
        self.node = node
        self.proof = frame.proof()

    def fact(self) -> EagerInit | None:
        frame = self.frame
        scope = scope_of(frame)
        parent = {child: node for node in walk(scope) for child in children(node)}
        at: ast.AST = self.node
        outer = parent.get(at)
        if (
            isinstance(outer, ast.Assign)
            and len(outer.targets) == 1
            and isinstance(outer.targets[0], ast.Name)
        ):
            name = outer.targets[0].id
            loads = [
                n
                for n in walk(scope)
                if isinstance(n, ast.Name)
                and n.id == name
                and isinstance(n.ctx, ast.Load)
                and n.lineno > self.node.lineno
            ]
            if not loads:
                return None
            first = min(loads, key=lambda n: (n.lineno, n.col_offset))
            again = parent.get(parent.get(first) or first)
            rebinds = isinstance(again, ast.Assign) and dotted_name(again.targets[0]) == name
            if len(loads) > 1 and not rebinds:
                return None
            at, outer = first, parent.get(first)
        used = _other_shape(at, outer, parent)
        if not used:
            return None
        return EagerInit(frame.place(self.node), frame.symbol, self.proof, how="reshaped", name=used)


def _other_shape(node: ast.AST, outer: ast.AST | None, parent: dict[ast.AST, ast.AST]) -> str:
    """A word for what makes another array of it: a slice, a squeeze or a transposition."""
    if isinstance(outer, ast.Subscript) and outer.value is node:
        index = outer.slice.elts if isinstance(outer.slice, ast.Tuple) else [outer.slice]
        adds = any(isinstance(i, ast.Constant) and i.value is None for i in index)
        return "sliced" if not adds and any(isinstance(i, (ast.Slice, ast.Constant)) for i in index) else ""
    if isinstance(outer, ast.Attribute) and outer.value is node:
        if outer.attr in ("T", "mT"):
            return "transposed"
        called = isinstance(parent.get(outer), ast.Call)
        return _word(outer.attr) if called and outer.attr in _MOVING else ""
    if isinstance(outer, ast.Call) and outer.args[:1] == [node]:
        name = (dotted_name(outer.func) or "").rpartition(".")[2]
        return _word(name) if name in _MOVING else ""
    return ""


def _word(name: str) -> str:
    return "squeezed" if name == "squeeze" else "transposed"
