"""Checkpoints read into a model that was built just for that: looked up by syntax when the run is over."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import API, CLASS, FOREIGN, FUNCTION, INSTANCE
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.facts import Load
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.syntax.bindings import Bindings, bindings_of, look, scope_of
from jaxlint.flow.syntax.called_functions import frame_inside
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name, last_name
from jaxlint.jax_api.loading import ABSTRACT, LOADERS, RESTORE_KEYWORDS

_DEPTH = 3  # functions entered
_HOPS = 6  # from name to name
_FAMILIES = ("equinox", "nnx", "struct", "pytree", "haiku")
_LAYERS = ("equinox.nn.", "flax.nnx.")
# `graphdef, state = nnx.split(model)`: the arrays are those of the model.
_TAKING_APART = frozenset({"split", "state", "filter"})
_STATES = ("flax.training.train_state.", "flax.nnx.Optimizer")


class PendingLoad(PendingFact):
    """A checkpoint is read into a tree."""

    __slots__ = ("_followed", "api", "frame", "node", "proof", "skeleton")

    def __init__(self, frame: Frame, api: str, node: ast.Call, skeleton: ast.expr) -> None:
        self.frame = frame
        self.api = api
        self.node = node
        self.skeleton = skeleton
        self.proof = frame.proof()
        self._followed: list[ast.expr] = []  # from the skeleton to what made it

    def fact(self) -> Load | None:
        frame = self.frame
        made = next((m for m in self._makers(self.skeleton) if _builds(frame, m, _DEPTH)), None)
        if made is None:
            return None
        scope = scope_of(frame)
        if _on_host(scope, made) or _on_host(scope, self.node):
            return None
        name = dotted_name(_subject(self.skeleton)) or ""
        template = _put_into(scope, made, self._followed)
        names = {n for n in (name, template) if n}
        if any(_is_used(scope, n, made, self.node, self._followed) for n in names):
            return None
        return Load(
            frame.place(self.node),
            frame.symbol,
            self.proof,
            api=self.api,
            skeleton=name,
            made=frame.place(made),
            sometimes=bool(names) and _only_sometimes(scope, made, self.node),
        )

    def _makers(self, node: ast.expr, hops: int = _HOPS) -> list[ast.Call]:
        """The calls that made the tree, or the parts of it: the last bound to their names before the load."""
        if not hops:
            return []
        node = _subject(node)
        if isinstance(node, ast.Call):
            if (dotted_name(node.func) or "").rpartition(".")[2] not in _TAKING_APART or not node.args:
                return [node]
            return self._makers(node.args[0], hops - 1)
        if isinstance(node, (ast.Tuple, ast.List, ast.Dict)):
            return [made for member in _members(node) for made in self._makers(member, hops - 1)]
        name = dotted_name(node)
        earlier = [b for b in self._bound(name) if b.lineno < self.node.lineno] if name else []
        self._followed += earlier[-1:]
        return self._makers(earlier[-1], hops - 1) if earlier else []

    def _bound(self, name: str) -> list[ast.expr]:
        """What a name or a field of `self` was bound to in this function."""
        if "." not in name:
            return bindings_of(self.frame).of(name)
        assigned = (n for n in own_nodes(scope_of(self.frame)) if isinstance(n, ast.Assign))
        return [n.value for n in assigned if any(dotted_name(t) == name for t in n.targets)]


@api_call("load")
def load(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`tree_deserialise_leaves(path, model)` and its like: a tree of the structure of the one they are given."""
    position, keywords = LOADERS[dotted]
    _note(frame, dotted, call, position, keywords)
    alike = (
        call.argument(position, *keywords) if dotted.startswith("equinox.") else None
    )  # others may give a dict
    return alike or UNKNOWN_VALUE


def note_restore(frame: Frame, call: Call) -> None:
    """`checkpointer.restore(path, item=state)`."""
    _note(frame, "restore", call, 1, RESTORE_KEYWORDS)


def _note(frame: Frame, api: str, call: Call, position: int, keywords: tuple[str, ...]) -> None:
    skeleton, node = call.argument_node(position, *keywords), call.node
    if frame.quiet or frame.level or skeleton is None or not isinstance(node, ast.Call):
        return
    frame.log.append(PendingLoad(frame, api, node, skeleton))


def _builds(frame: Frame, call: ast.Call, depth: int) -> bool:
    """Whether the call makes the arrays of a model or state."""
    names = {
        n.attr if isinstance(n, ast.Attribute) else n.id
        for n in walk(call)
        if isinstance(n, (ast.Attribute, ast.Name))
    }
    if names & ABSTRACT or any("abstract" in name for name in names):
        return False
    callee = call.func
    name = last_name(callee)
    if isinstance(callee, ast.Call):  # jax.jit(model.init)(…)
        return any(isinstance(a, ast.Attribute) and a.attr == "init" for a in callee.args)
    if name in ("init", "init_with_output") and isinstance(callee, ast.Attribute):
        return not _is_optimizer(frame, callee.value)
    value = look(frame, callee)
    if value.kind == CLASS:
        return value.data.family in _FAMILIES
    if value.kind == API:
        api = str(value.data)
        return api.startswith(_STATES) or (api.startswith(_LAYERS) and api.rpartition(".")[2][:1].isupper())
    if value.kind == FUNCTION and depth and not value.data.function.is_lambda:
        if _returns_built(frame_inside(frame, value.data), depth - 1):
            return True
        return value.data.function.module is not frame.module and _result_is_built(frame, call)
    return _result_is_built(frame, call)


def _result_is_built(frame: Frame, call: ast.Call) -> bool:
    value = look(frame, call)
    if value.kind == INSTANCE:
        return value.data.cls.family in _FAMILIES
    return value.kind == FOREIGN and str(value.data.api).startswith((*_LAYERS, *_STATES))


def _returns_built(frame: Frame, depth: int) -> bool:
    """Whether the function that the frame stands for returns what it builds."""
    function = scope_of(frame)
    bindings = Bindings(function)
    for node in own_nodes(function):
        if not isinstance(node, ast.Return) or node.value is None:
            continue
        for value in _members(node.value):
            while isinstance(value, (ast.Subscript, ast.Attribute)):
                value = value.value
            bound = bindings.of(value.id)[-1:] if isinstance(value, ast.Name) else [value]
            for source in bound:
                while isinstance(source, (ast.Subscript, ast.Attribute)):
                    source = source.value
                if isinstance(source, ast.Call) and _builds(frame, source, depth):
                    return True
    return False


def _members(node: ast.expr) -> list[ast.expr]:
    """What a tuple, list or dict display puts together, or the expression itself."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return node.elts
    return node.values if isinstance(node, ast.Dict) else [node]


def _is_optimizer(frame: Frame, node: ast.expr) -> bool:
    """`optimizer.init(params)` makes a state of zeros, not a model."""
    value = look(frame, node)
    foreign = value.kind == FOREIGN and str(value.data.api).startswith("optax.")
    return foreign or (dotted_name(node) or "").rpartition(".")[2] in (
        "tx",
        "opt",
        "optim",
        "optimizer",
        "optimiser",
    )


def _subject(node: ast.expr) -> ast.expr:
    """`state` in `state.params["w"]`, `self.model` in `self.model.layers`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            break
        node = node.value
    return node


def _put_into(scope: ast.AST, made: ast.Call, followed: list[ast.expr]) -> str:
    """The name of what was built, where it is one part of the template."""
    if not any(isinstance(node, (ast.Tuple, ast.List, ast.Dict)) for node in followed):
        return ""
    assigned = (n for n in walk(scope) if isinstance(n, ast.Assign) and n.value is made)
    return next((name for n in assigned if (name := dotted_name(n.targets[0]))), "")


def _is_used(scope: ast.AST, name: str, made: ast.Call, load: ast.Call, followed: list[ast.expr]) -> bool:
    """Whether anything but the load, and what is put together for it, reads what was built."""
    inside = {n for node in (load, *followed) for n in walk(node)}
    named = [n for n in walk(scope) if isinstance(n, (ast.Name, ast.Attribute)) and dotted_name(n) == name]
    stored = [n.lineno for n in named if isinstance(n.ctx, ast.Store) and n.lineno >= load.lineno]
    end = min(stored, default=1 << 30)
    return any(
        isinstance(n.ctx, ast.Load) and n not in inside and made.lineno < n.lineno < end for n in named
    )


def _only_sometimes(scope: ast.AST, made: ast.Call, load: ast.Call) -> bool:
    """The load stands under a condition that the building does not: without a checkpoint the model is needed."""
    for node in walk(scope):
        if isinstance(node, (ast.If, ast.Try, ast.IfExp)):
            inside = set(walk(node))
            if load in inside and made not in inside:
                return True
    return False


def _on_host(scope: ast.AST, node: ast.Call) -> bool:
    """`with jax.default_device(cpu):` around it."""
    for block in walk(scope):
        if isinstance(block, (ast.With, ast.AsyncWith)):
            names = {
                (dotted_name(item.context_expr.func) or "").rpartition(".")[2]
                for item in block.items
                if isinstance(item.context_expr, ast.Call)
            }
            if "default_device" in names and any(child is node for child in walk(block)):
                return True
    return False
