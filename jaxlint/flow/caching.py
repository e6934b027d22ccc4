"""Caches: decorators that keep results, and dicts filled on a miss."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxlint.flow.facts import CacheStore, Parameter
from jaxlint.flow.few import is_one_of_few
from jaxlint.flow.frame import Call, Frame, api_call, evaluate
from jaxlint.flow.functions import Function
from jaxlint.flow.keys import Key, is_executable
from jaxlint.flow.kinds import (
    API,
    BOUNDARY,
    CONCRETE,
    CONSTANT,
    FOREIGN,
    FUNCTION,
    HOST,
    INSTANCE,
    SCALAR,
    SHAPE,
    TRACERS,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.operand import dotted_name, operand
from jaxlint.flow.tags import BOUNDED, TEXT, WEAK
from jaxlint.flow.values import PER_ITERATION, Choices, Value, parts
from jaxlint.flow.walking import nodes_of, walk

if TYPE_CHECKING:
    from jaxlint.flow.run import Run

_EVICTING = frozenset({"pop", "popitem", "clear", "popleft", "move_to_end"})
_DATA_WORDS = frozenset({"shape", "tobytes", "hexdigest", "digest", "id", "hash"})


class PendingFill:
    """A dict filled on a miss; whether anything is ever evicted is looked up at the end."""

    __slots__ = ("container", "frame", "index", "index_node", "node", "proof", "source", "value")

    def __init__(
        self,
        frame: Frame,
        node: ast.AST,
        container: ast.expr,
        index_node: ast.expr,
        index: Value,
        value: Value,
    ) -> None:
        self.frame = frame
        self.node = node
        self.container = container
        self.index_node = index_node
        self.index = index
        self.value = value
        statement = frame.statement
        self.source = node.args[1] if isinstance(node, ast.Call) else getattr(statement, "value", None)
        self.proof = frame.proof()

    def fact(self) -> CacheStore:
        frame, name = self.frame, dotted_name(self.container) or ""
        scope = frame.function.node if frame.function is not None else frame.module.tree
        evicts = _evicts(frame.module.tree, name)
        return CacheStore(
            frame.place(self.node),
            frame.symbol,
            self.proof,
            how="dict",
            function=frame.symbol,
            bounded=False,
            on_method=name.startswith("self."),
            key=operand(frame, self.index_node, self.index),
            key_open=_key_open(frame, self.index_node, self.index),
            value=operand(frame, self.node, self.value),
            value_is_array=_is_array(self.value),
            value_is_boundary=self.value.kind == BOUNDARY or _is_compiled(self.value),
            evicts=evicts,
            key_made_of=frozenset(Key(frame.module, scope, self.index_node).words),
            executable=self.value.kind == BOUNDARY or is_executable(frame.module, scope, self.source),
            pins=_pinned([self.index, *parts(self.index)]),
        )


def note_fill(frame: Frame, node: ast.Subscript, container: ast.expr, index: Value, value: Value) -> None:
    """`cache[key] = value` on a miss."""
    if _outlives_call(frame, container):
        frame.log.append(PendingFill(frame, node, container, node.slice, index, value))


def note_setdefault(frame: Frame, call: Call) -> None:
    """`cache.setdefault(key, value)`."""
    node = call.node
    if (
        frame.quiet
        or frame.level
        or not isinstance(node, ast.Call)
        or len(call.positional) < 2
        or len(node.args) < 2
    ):
        return
    if isinstance(node.func, ast.Attribute) and _outlives_call(frame, node.func.value):
        frame.log.append(
            PendingFill(frame, node, node.func.value, node.args[0], call.positional[0], call.positional[1])
        )


def _outlives_call(frame: Frame, container: ast.expr) -> bool:
    """A global or an attribute: it is there at the next call. A name of an enclosing function goes when that
    returns, and what is weak lets go by itself."""
    if isinstance(container, ast.Name):
        if container.id in frame.names:
            return container.id in frame.globals or frame.function is None
        held = (frame.module.names or {}).get(container.id)
        return held is not None and not (held.kind in (API, UNKNOWN) and held.tags & WEAK)
    if isinstance(container, ast.Attribute):
        held = evaluate(frame, container)
        return dotted_name(container) is not None and not (held.kind == UNKNOWN and held.tags & WEAK)
    return False


def _evicts(tree: ast.AST, name: str) -> bool:
    """Whether the module takes anything out of the container, or compares its length with a bound."""
    last = name.rpartition(".")[2]
    deleted = (target for deletion in nodes_of(tree, ast.Delete) for target in deletion.targets)
    if any(isinstance(target, ast.Subscript) and _ends_with(target.value, last) for target in deleted):
        return True
    compared = (side for test in nodes_of(tree, ast.Compare) for side in (test.left, *test.comparators))
    if any(_is_len_of(side, last) for side in compared):
        return True
    methods = (c.func for c in nodes_of(tree, ast.Call) if isinstance(c.func, ast.Attribute))
    return any(method.attr in _EVICTING and _ends_with(method.value, last) for method in methods)


def _is_len_of(node: ast.expr, name: str) -> bool:
    is_len = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"
    return is_len and isinstance(node, ast.Call) and bool(node.args) and _ends_with(node.args[0], name)


def _ends_with(node: ast.expr, name: str) -> bool:
    return (isinstance(node, ast.Name) and node.id == name) or (
        isinstance(node, ast.Attribute) and node.attr == name
    )


def _key_open(frame: Frame, node: ast.expr, index: Value) -> bool | None:
    """Whether new keys keep coming: from data, shapes, an iteration or whatever the caller passes."""
    if index.kind == CONSTANT:
        return False
    if index.tags & BOUNDED or isinstance(index.data, Choices):
        return False
    if index.kind == TREE and index.data:
        members = [_key_open(frame, node, v) for v in parts(index)]
        return True if True in members else None if None in members else False
    if index.varies >= PER_ITERATION:
        return True
    for child in walk(node):
        word = (
            child.attr
            if isinstance(child, ast.Attribute)
            else child.id
            if isinstance(child, ast.Name)
            else ""
        )
        if word in _DATA_WORDS:
            return True
    if index.kind == SHAPE or index.kind in CONCRETE:
        return True
    if index.kind == TREE and any(_key_open(frame, node, v) for v in parts(index)):
        return True  # of any number of members
    if index.tags & TEXT and index.varies:
        return True
    return None


def _is_array(value: Value) -> bool:
    if value.kind in CONCRETE or value.kind in TRACERS:
        return True
    return value.kind == TREE and any(_is_array(v) for v in parts(value))


def _is_compiled(value: Value) -> bool:
    return value.kind == FUNCTION or (
        value.kind == UNKNOWN and value.origin is not None and value.origin.word == "compiled"
    )


@api_call("cache")
def cache(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`lru_cache(maxsize=…)`: a decorator; tags tell whether it is bounded."""
    if call.positional and call.positional[0].kind not in (CONSTANT, SCALAR, UNKNOWN):
        return call_form(frame, last, call)
    maxsize = call.argument(0, "maxsize")
    unbounded = maxsize is not None and maxsize.kind == CONSTANT and maxsize.data is None
    return Value(CONSTANT, 0, 0 if unbounded else BOUNDED, "cache decorator")


@api_call("other_cache")
def other_cache(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """A cache of another library: how much it keeps is its own affair."""
    return Value(CONSTANT, 0, BOUNDED, "cache decorator")


def decorated_fact(
    run: Run, frame: Frame, node: ast.expr, function: Function, how: str, bounded: bool
) -> CacheStore:
    """A cache decorator's fact, made when the run is over. `frame` is the decorator's."""
    cls = function.cls
    on_method = cls is not None and not function.is_static and function.params[:1] == ["self"]
    result: Value | None = None
    calls = []
    open_keys: bool | None = None
    for evaluation in run.memo.values():
        if evaluation.function is function and not evaluation.level:
            result = evaluation.result if result is None or result.kind == UNKNOWN else result
    few = {name for name in function.annotations if is_one_of_few(run.program, function, name)}
    for place, given in run.cached_calls.get(function, ()):
        values = (v for name, v in given.items() if name not in few and v.kind not in (INSTANCE, HOST))
        if any(_key_open(frame, node, v) is True for v in values):
            calls.append(place)
            open_keys = True
    if open_keys is None and run.cached_calls.get(function):
        open_keys = False  # every call in view passes one of a few keys
    from jaxlint.flow.instances import generic_instance, holds_arrays

    return CacheStore(
        frame.module.place(node),
        function.qualname,
        frame.proof(),
        how=how,
        function=function.qualname,
        bounded=bounded,
        on_method=on_method,
        parameters=tuple(
            Parameter(n, has_default=n in function.defaults, annotation=function.annotations.get(n, ""))
            for n in (*function.params, *function.keyword_only)
            if not (on_method and n == "self")
        ),
        key_open=open_keys,
        value=operand(frame, node, result) if result is not None else None,
        value_is_array=result is not None and _is_array(result),
        value_is_boundary=result is not None and (result.kind == BOUNDARY or _is_compiled(result)),
        instance_holds_arrays=cls is not None and holds_arrays(generic_instance(cls)),
        varying_calls=tuple(dict.fromkeys(calls))[:6],
        executable=result is not None and result.kind == BOUNDARY,
        pins=_pinned([v for _, given in run.cached_calls.get(function, ()) for v in given.values()]),
    )


def _pinned(keys: list[Value]) -> str:
    """The class of an object that holds arrays and is hashed by identity, or of a model of a known library."""
    from jaxlint.flow.instances import holds_arrays

    for value in keys:
        if (
            value.kind == INSTANCE
            and value.data.cls.family not in ("equinox", "enum")
            and holds_arrays(value)
        ):
            return str(value.data.cls.name)
        if value.kind == FOREIGN and value.data.api.startswith("flax.nnx."):
            return str(value.data.api.rpartition(".")[2])
    return ""


def call_form(frame: Frame, last: str, call: Call) -> Value:
    """`cached = functools.cache(f)`."""
    target = call.positional[0]
    if target.kind == FUNCTION and isinstance(call.node, ast.Call):
        from jaxlint.flow.definitions import PendingCache

        function: Function = target.data.function
        function.cached = last
        function.cached_at = frame.place(call.node)
        if not frame.quiet:
            frame.log.append(PendingCache(frame, call.node, function, last, last == "lru_cache"))
    return target
