"""Checkpoints read into a model that was built just for that: looked up by syntax when the run is over."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from jaxlint.flow.device_memory.templates import Template, is_used, members, subject
from jaxlint.flow.domain.kinds import API, CLASS, FOREIGN, FUNCTION, INSTANCE
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.facts import Load
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.syntax.bindings import Bindings, bindings_of, look, scope_of
from jaxlint.flow.syntax.called_functions import frame_inside
from jaxlint.flow.syntax.entries import passed_for
from jaxlint.flow.syntax.ways import parameters_of
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name, last_name
from jaxlint.jax_api.loading import ABSTRACT, LOADERS, RESTORE_KEYWORDS

_DEPTH = 3  # functions entered
_CALLERS = 3  # functions that hand on what is read into
_FAMILIES = ("equinox", "nnx", "struct", "pytree", "haiku")
_LAYERS = ("equinox.nn.", "flax.nnx.")
_Site: TypeAlias = (
    "tuple[Frame, ast.Call, ast.expr]"  # a function, a call in it, what it passes to be read into
)
_STATES = ("flax.training.train_state.", "flax.nnx.Optimizer")


class PendingLoad(PendingFact):
    """A checkpoint is read into a tree."""

    __slots__ = ("api", "frame", "node", "proof", "skeleton")

    def __init__(self, frame: Frame, api: str, node: ast.Call, skeleton: ast.expr) -> None:
        self.frame = frame
        self.api = api
        self.node = node
        self.skeleton = skeleton
        self.proof = frame.proof()

    def fact(self) -> Load | None:
        if _on_host(scope_of(self.frame), self.node):
            return None
        for site in _sites(self.frame, self.node, self.skeleton):
            found = self._built(*site)
            if found is not None:
                return found
        return None

    def _built(self, frame: Frame, node: ast.Call, skeleton: ast.expr) -> Load | None:
        """The fact, where the tree is built in this function only to be read into."""
        template = Template(frame, node, skeleton)
        origin = next((o for o in template.origins if _builds(frame, o.made, _DEPTH)), None)
        scope = scope_of(frame)
        if origin is None or _on_host(scope, origin.made) or _on_host(scope, node):
            return None
        if any(is_used(scope, name, template, origin) for name in origin.names):
            return None
        here = frame is self.frame
        return Load(
            self.frame.place(self.node),
            self.frame.symbol,
            self.proof,
            api=self.api,
            skeleton=origin.names[0] if origin.names else "",
            made=frame.place(origin.made),
            sometimes=_only_sometimes(scope, origin.made, node)
            or not (here or _always(scope_of(self.frame), self.node)),
        )


def _sites(frame: Frame, node: ast.Call, skeleton: ast.expr, depth: int = _CALLERS) -> Iterator[_Site]:
    """Where what is read into is made: here, or in the functions that pass it."""
    name = dotted_name(subject(skeleton)) or ""
    is_given = name in parameters_of(scope_of(frame)) and not bindings_of(frame).of(name)
    if not is_given:
        yield frame, node, skeleton
        return
    for caller, given in passed_for(frame, name) if depth else ():
        calls = (n for at, n in frame.evaluation.entries if at is caller and isinstance(n, ast.Call))
        call = next((n for n in calls if any(part is given for part in walk(n))), None)
        if call is not None and not caller.level:
            yield from _sites(caller, call, given, depth - 1)


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
        for value in members(node.value):
            while isinstance(value, (ast.Subscript, ast.Attribute)):
                value = value.value
            bound = bindings.of(value.id)[-1:] if isinstance(value, ast.Name) else [value]
            for source in bound:
                while isinstance(source, (ast.Subscript, ast.Attribute)):
                    source = source.value
                if isinstance(source, ast.Call) and _builds(frame, source, depth):
                    return True
    return False


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


def _only_sometimes(scope: ast.AST, made: ast.Call, load: ast.Call) -> bool:
    """The load stands under a condition that the building does not: without a checkpoint the model is needed."""
    for node in walk(scope):
        if isinstance(node, (ast.If, ast.Try, ast.IfExp)):
            inside = set(walk(node))
            if load in inside and made not in inside:
                return True
    return False


def _always(scope: ast.AST, load: ast.Call) -> bool:
    """No condition stands around the load in its own function."""
    tests = [n for n in walk(scope) if isinstance(n, (ast.If, ast.Try, ast.IfExp))]
    return not any(child is load for test in tests for child in walk(test))


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
