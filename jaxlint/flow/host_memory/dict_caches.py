"""Dicts that are filled on a miss."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import API, BOUNDARY, INSTANCE, TREE, UNKNOWN
from jaxlint.flow.domain.operand import operand
from jaxlint.flow.domain.tags import WEAK
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value, parts
from jaxlint.flow.facts import CacheStore
from jaxlint.flow.frame import Call, Frame, evaluate
from jaxlint.flow.host_memory.cache_entries import is_array, is_compiled, key_open_of, pinned_by
from jaxlint.flow.host_memory.keys import Key, is_executable
from jaxlint.flow.host_memory.missing import words_asked
from jaxlint.index.walking import nodes_of
from jaxlint.index.written_names import dotted_name

_EVICTING = frozenset({"pop", "popitem", "clear", "popleft", "move_to_end"})


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
        evicts = any(_evicts(frame.module.tree, held) for held in (name, *_holders(frame, self.container)))
        few = _is_key_of_table(frame, scope, self.index_node)
        return CacheStore(
            frame.place(self.node),
            frame.symbol,
            self.proof,
            how="dict",
            function=frame.symbol,
            bounded=False,
            on_method=name.startswith("self."),
            key=operand(frame, self.index_node, self.index),
            key_open=not few and key_open_of(frame, self.index_node, self.index),
            value=operand(frame, self.node, self.value),
            value_is_array=is_array(self.value),
            value_is_boundary=self.value.kind == BOUNDARY or is_compiled(self.value),
            evicts=evicts,
            key_made_of=words_asked(frame.module, set(_holders(frame, self.container)))
            | Key(frame.module, scope, self.index_node).words,
            executable=self.value.kind == BOUNDARY or is_executable(frame.module, scope, self.source),
            pins=pinned_by([self.index, *parts(self.index)]),
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
        if _is_own_entry(frame, container):
            return _made_at_import(frame, container) or bool(_holders(frame, container))
        if container.id in frame.names:
            return container.id in frame.globals or frame.function is None
        held = (frame.module.names or {}).get(container.id)
        return held is not None and not (held.kind in (API, UNKNOWN) and held.tags & WEAK)
    if isinstance(container, ast.Attribute):
        held = evaluate(frame, container)
        return dotted_name(container) is not None and not (held.kind == UNKNOWN and held.tags & WEAK)
    return False


def fills_itself(frame: Frame, name: str) -> bool:
    """`self[key] = value` in a `__missing__`, which Python calls when a dict has no such key."""
    function = frame.function
    return function is not None and function.name == "__missing__" and function.params[:1] == [name]


def _is_own_entry(frame: Frame, container: ast.expr) -> bool:
    """Whether a method stores in the object itself, a dict of the project's."""
    function = frame.function
    return (
        isinstance(container, ast.Name)
        and function is not None
        and function.is_method
        and function.params[:1] == [container.id]
        and frame.names.get(container.id, UNKNOWN_VALUE).kind == INSTANCE
    )


def _made_at_import(frame: Frame, container: ast.Name) -> bool:
    home = frame.names[container.id].data.home
    return home is not None and home.frame is not None and home.frame.function is None


def _holders(frame: Frame, container: ast.expr) -> list[str]:
    """The names and attributes that an object is kept under which stores in itself: `self.words = Words()`, and at
    the top of a module `words = Words()`."""
    if not _is_own_entry(frame, container):
        return []
    made = frame.names[container.id].data.node  # type: ignore[attr-defined]  # a name
    bound = [n for n in nodes_of(frame.module.tree, ast.Assign) if n.value is made]
    top = frame.module.tree.body
    targets = [t for n in bound for t in n.targets if isinstance(t, ast.Attribute) or n in top]
    return [name for name in map(dotted_name, targets) if name is not None]


def _is_key_of_table(frame: Frame, scope: ast.AST, key: ast.expr) -> bool:
    """`TABLE[name]` beside the cache: a dict that is written out has all the keys that there can be."""
    if not isinstance(key, ast.Name):
        return False
    tables = (
        node.value.id
        for node in nodes_of(scope, ast.Subscript)
        if isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Name) and node.slice.id == key.id
    )
    held = [(frame.module.names or {}).get(name) for name in tables]
    return any(v is not None and v.kind == TREE and v.data.__class__ is dict and v.data for v in held)


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
