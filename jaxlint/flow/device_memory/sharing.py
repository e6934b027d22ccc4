"""Which arguments of a call are, or hold, one and the same array: by syntax, as it stands at the first call.

A value is known by where it comes from: the expression that makes it or the parameter that brings it, and the path
of keys and attributes from there. Two arguments share a buffer when one's way is the beginning of the other's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.flow.domain.classes import ClassInfo
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import CLASS, FUNCTION, INSTANCE, LAZY, MODULE
from jaxlint.flow.domain.values import Value
from jaxlint.flow.program import LoadedModule, Program
from jaxlint.flow.syntax.last_bindings import last_binding, stored_attribute
from jaxlint.index.walking import nodes_of, own_nodes, walk

_DEPTH = 12
# What gives back the very array it is given (measured).
_SAME = frozenset(
    {"asarray", "device_put", "block_until_ready", "stop_gradient", "freeze", "unfreeze", "cast"}
)
_BUILDERS = frozenset({"create", "replace", "_replace", "dict", "tuple", "list", "OrderedDict", "FrozenDict"})
_NO_ARRAYS = frozenset(
    {"shape", "dtype", "ndim", "size", "apply_fn", "tx", "config", "apply", "init", "update"}
)


class Source(NamedTuple):
    """Where a value comes from, and the expression that last named it on the way."""

    way: tuple[object, ...]
    module: LoadedModule
    node: ast.expr
    doubled: bool = False  # the expression itself makes a second name of it
    names: tuple[tuple[LoadedModule, ast.expr], ...] = ()  # all that named it, or what holds it, on the way

    def made_at(self) -> ast.expr | None:
        """The expression that makes it, if the module that names it does so in another place."""
        made = next((step for step in reversed(self.way) if isinstance(step, ast.expr)), self.node)
        inside = any(node is made for node in nodes_of(self.module.tree, type(made)))
        return made if inside and made is not self.node else None


class Place(NamedTuple):
    """Where an expression is looked at: its function or module, and what was passed for its parameters."""

    module: LoadedModule
    scope: ast.AST
    before: int  # only bindings above this line count
    passed: dict[str, tuple[ast.expr, Place]]


class Sources:
    """Finds where the arrays in an expression come from."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def of(self, node: ast.expr, at: Place, depth: int = _DEPTH) -> Iterator[Source]:
        """The sources of the value of an expression, one for each member that is told apart."""
        if depth <= 0 or isinstance(node, (ast.Constant, ast.Lambda, ast.JoinedStr, ast.Compare)):
            return
        if isinstance(node, ast.Name):
            yield from self._of_name(node, at, depth)
        elif isinstance(node, ast.Attribute):
            yield from self._of_member(node, node.value, node.attr, at, depth)
        elif isinstance(node, ast.Subscript):
            if isinstance(node.slice, ast.Constant):
                yield from self._of_member(node, node.value, node.slice.value, at, depth)
            else:
                yield Source((node,), at.module, node)
        elif isinstance(node, (ast.Tuple, ast.List)):
            for item in node.elts:
                yield from self.of(item, at, depth - 1)
        elif isinstance(node, ast.ListComp) and isinstance(node.elt, ast.Name):
            drawn = {n.id for g in node.generators for n in walk(g.target) if isinstance(n, ast.Name)}
            for source in self.of(node.elt, at, depth - 1) if node.elt.id not in drawn else ():
                yield source
                yield source._replace(module=at.module, node=node.elt, doubled=True)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None:
                    yield from self.of(value, at, depth - 1)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            yield from self._repeated(node, at, depth)
        elif isinstance(node, ast.Call):
            yield from self._of_call(node, at, depth)
        else:
            yield Source((node,), at.module, node)

    def _of_name(self, node: ast.Name, at: Place, depth: int) -> Iterator[Source]:
        bound = last_binding(at.scope, node.id, at.before)
        if bound is None:
            given = at.passed.get(node.id)
            if given is not None:
                for source in self.of(given[0], given[1], depth - 1):
                    yield _passed_by(source._replace(module=at.module, node=node), at.module, node)
                return
            yield Source((at.scope, node.id), at.module, node)
            return
        value, position = bound
        for source in self.of(value, at._replace(before=value.lineno), depth - 1):
            if position is not None:
                source = source._replace(way=(*source.way, position))
            yield _passed_by(_named(source, at.module, node), at.module, node)

    def _of_member(
        self, node: ast.expr, base: ast.expr, key: object, at: Place, depth: int
    ) -> Iterator[Source]:
        if key in _NO_ARRAYS:
            return
        if isinstance(base, ast.Name) and base.id == "self" and isinstance(key, str):
            stored = stored_attribute(at.module, key)
            if stored is not None:
                yield from self._of_attribute(node, stored, key, at, depth)
                return
            yield Source(("self", key), at.module, node)
            return
        found = list(self.of(base, at, depth - 1))
        if len(found) == 1:
            yield Source((*found[0].way, key), at.module, node)

    def _of_attribute(
        self, node: ast.expr, stored: tuple[ast.AST, ast.expr], key: str, at: Place, depth: int
    ) -> Iterator[Source]:
        """`self.target` where the constructor says `self.target = self.online`."""
        scope, value = stored
        for source in self.of(value, Place(at.module, scope, value.lineno, {}), depth - 1):
            yield _named(source, at.module, node)

    def _repeated(self, node: ast.BinOp, at: Place, depth: int) -> Iterator[Source]:
        """`[zeros] * 2`."""
        display, count = node.left, node.right
        if not isinstance(display, (ast.List, ast.Tuple)):
            yield Source((node,), at.module, node)
            return
        for source in self.of(display, at, depth - 1):
            yield source
            if not (isinstance(count, ast.Constant) and count.value in (0, 1)):
                yield source._replace(module=at.module, node=node, doubled=True)

    def _of_call(self, node: ast.Call, at: Place, depth: int) -> Iterator[Source]:
        callee = node.func
        name = (
            callee.attr
            if isinstance(callee, ast.Attribute)
            else callee.id
            if isinstance(callee, ast.Name)
            else ""
        )
        if name in _SAME and node.args:
            yield from self.of(node.args[0], at, depth - 1)
            return
        if name in ("map", "tree_map") and len(node.args) == 2 and _is_identity(node.args[0]):
            yield from self.of(node.args[1], at, depth - 1)
            return
        function, is_container = self._callee(callee, at)
        if function is not None:
            yield from self._of_result(node, function, at, depth)
        elif is_container or name in _BUILDERS or name == "cls" or name.endswith("State"):
            given = [
                *node.args,
                *(k.value for k in node.keywords if k.arg not in (None, "key", "rng", "rngs")),
            ]
            if name in ("replace", "_replace") and isinstance(callee, ast.Attribute):
                given.insert(0, callee.value)
            for item in given:
                if not isinstance(item, ast.Starred):
                    yield from self.of(item, at, depth - 1)
        else:
            yield Source((node,), at.module, node)

    def _callee(self, node: ast.expr, at: Place) -> tuple[Function | None, bool]:
        """The project's function that is called, or whether a class that only keeps its arguments is."""
        value = self._global(node, at)
        if isinstance(node, ast.Attribute) and value is None:
            return self._method(node.value, node.attr, at), False
        if value is None:
            name = node.id if isinstance(node, ast.Name) else ""
            nested = [f for f in at.module.functions.values() if f.name == name and f.parent is not None]
            return (nested[0], False) if len(nested) == 1 else (None, False)
        if value.kind == FUNCTION and not value.data.transforms:
            return value.data.function, False
        return None, value.kind == CLASS and "__init__" not in value.data.methods

    def _method(self, owner: ast.expr, name: str, at: Place) -> Function | None:
        """A method of a class of the project, or of an object that is made of one in view."""
        found = self._class_method(owner, name, at)
        if found is not None:
            return found
        cls = self._class_of(owner, at)
        method = cls.lookup(name) if cls is not None else None
        if method is None or method.is_classmethod or method.is_static or method.is_property:
            return None
        decorated = method.cls.attributes.get(name) if method.cls is not None else None
        return method if decorated is None else None

    def _class_of(self, owner: ast.expr, at: Place, depth: int = 3) -> ClassInfo | None:
        """The class of an object: `self`, `Adam(0.1)`, a name or a field that was bound to such a call."""
        if not depth:
            return None
        if isinstance(owner, ast.Call) and isinstance(owner.func, (ast.Name, ast.Attribute)):
            value = self._global(owner.func, at)
            return value.data if value is not None and value.kind == CLASS else None
        if isinstance(owner, ast.Name):
            function = at.module.functions.get(at.scope)  # type: ignore[call-overload]  # a module is in no table
            if function is not None and function.cls is not None and function.params[:1] == [owner.id]:
                cls: ClassInfo = function.cls
                return cls
            bound = last_binding(at.scope, owner.id, at.before)
            if bound is not None:
                return self._class_of(bound[0], at._replace(before=bound[0].lineno), depth - 1)
            given = at.passed.get(owner.id)
            if given is not None:
                return self._class_of(given[0], given[1], depth - 1)
            value = self._global(owner, at)
            return value.data.cls if value is not None and value.kind == INSTANCE else None
        if (
            isinstance(owner, ast.Attribute)
            and isinstance(owner.value, ast.Name)
            and owner.value.id == "self"
        ):
            stored = stored_attribute(at.module, owner.attr)
            if stored is not None:
                made = Place(at.module, stored[0], stored[1].lineno, {})
                return self._class_of(stored[1], made, depth - 1)
        return None

    def _global(self, node: ast.expr, at: Place) -> Value | None:
        """What a name of the module stands for, or the member of another module of the project: `losses.start`."""
        if isinstance(node, ast.Attribute):
            owner = self._global(node.value, at)
            if owner is None or owner.kind != MODULE:
                return None
            value: Value | None = self._program.member(owner.data.entry, node.attr)
        elif isinstance(node, ast.Name) and not _is_local(node.id, at):
            value = (at.module.names or {}).get(node.id)
        else:
            return None
        return self._program.force(value) if value is not None and value.kind == LAZY else value

    def _class_method(self, owner: ast.expr, name: str, at: Place) -> Function | None:
        """`State.create(…)`, where the class is the project's."""
        value = self._global(owner, at)
        method = value.data.lookup(name) if value is not None and value.kind == CLASS else None
        return method if method is not None and (method.is_classmethod or method.is_static) else None

    def _of_result(self, node: ast.Call, function: Function, at: Place, depth: int) -> Iterator[Source]:
        """What a function of the project returns, in terms of what it is passed."""
        if isinstance(function.node, ast.Lambda):
            returns: list[ast.expr] = [function.node.body]
        else:
            found = (n.value for n in own_nodes(function.node) if isinstance(n, ast.Return))
            returns = [value for value in found if value is not None]
        starred = any(isinstance(a, ast.Starred) for a in node.args)
        if (
            len(returns) != 1
            or starred
            or not isinstance(returns[0], (ast.Dict, ast.Tuple, ast.List, ast.ListComp, ast.Call, ast.Name))
        ):
            yield Source((node,), at.module, node)
            return
        params = function.params[1:] if function.is_method else function.params
        passed = {name: (value, at) for name, value in zip(params, node.args, strict=False)}
        passed |= {k.arg: (k.value, at) for k in node.keywords if k.arg is not None}
        inner = Place(function.module, function.node, returns[0].lineno + 1, passed)
        for source in self.of(returns[0], inner, depth - 1):
            made_inside = source.way[0] not in (at.scope, "self") and not _is_older(source, passed)
            yield source._replace(way=(node, *source.way)) if made_inside else source


def _named(source: Source, module: LoadedModule, node: ast.expr) -> Source:
    """A source by the name that now stands for it, unless it had one before or was doubled there."""
    if source.doubled or isinstance(source.node, (ast.Name, ast.Attribute, ast.Subscript)):
        return source
    return source._replace(module=module, node=node)


def _passed_by(source: Source, module: LoadedModule, node: ast.expr) -> Source:
    return source._replace(names=(*source.names, (module, node)))


def _told_apart(earlier: Source, later: Source) -> tuple[Source, Source]:
    """Two sources that one expression names, by what holds them: `params` where `{"x": params, "z": params}` holds
    one tree twice."""
    if earlier.node is later.node:
        for (module, node), (other_module, other) in zip(earlier.names, later.names, strict=False):
            if node is not other:
                return earlier._replace(module=module, node=node), later._replace(
                    module=other_module, node=other
                )
    return earlier, later


def _is_older(source: Source, passed: dict[str, tuple[ast.expr, Place]]) -> bool:
    """Whether what a function returns was passed to it, rather than made anew by this call."""
    first = source.way[0]
    return any(first is node or first is node_at.scope for node, node_at in passed.values()) or any(
        isinstance(first, ast.AST) and any(n is first for n in walk(node)) for node, _ in passed.values()
    )


def shared(sources: list[tuple[Source, bool]]) -> Iterator[tuple[Source, Source]]:
    """Pairs of sources of which one holds the other and at least one is donated."""
    for position, (later, later_donated) in enumerate(sources):
        for earlier, earlier_donated in sources[:position]:
            short = min(len(earlier.way), len(later.way))
            if (earlier_donated or later_donated) and earlier.way[:short] == later.way[:short]:
                yield _told_apart(earlier, later)


def _is_identity(node: ast.expr) -> bool:
    """`lambda x: x`."""
    return (
        isinstance(node, ast.Lambda)
        and isinstance(node.body, ast.Name)
        and [a.arg for a in node.args.args] == [node.body.id]
    )


def _is_local(name: str, at: Place) -> bool:
    return name in at.passed or (at.scope is not at.module.tree and is_bound(at, name))


def is_bound(at: Place, name: str) -> bool:
    """Whether the scope binds the name above the line that is looked at."""
    return last_binding(at.scope, name, at.before) is not None
