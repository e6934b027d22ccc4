"""Which arguments of a call are, or hold, one and the same array: by syntax, as it stands at the first call.

A value is known by where it comes from: the expression that makes it or the parameter that brings it, and the path
of keys and attributes from there. Two arguments share a buffer when one's way is the beginning of the other's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.flow.device_memory.same_arrays import SameArrays
from jaxlint.flow.device_memory.sharing_callees import Place
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.program import LoadedModule
from jaxlint.flow.syntax.last_bindings import last_binding
from jaxlint.index.walking import nodes_of, own_nodes, walk

_DEPTH = 12
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


class Sources(SameArrays):
    """Finds where the arrays in an expression come from."""

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
        elif isinstance(node, (ast.ListComp, ast.DictComp)) and (tree := self.same_members(node, at)):
            yield from self.of(tree, at, depth - 1)
        elif isinstance(node, ast.ListComp) and isinstance(node.elt, ast.Name):
            drawn = {n.id for g in node.generators for n in walk(g.target) if isinstance(n, ast.Name)}
            for source in self.of(node.elt, at, depth - 1) if node.elt.id not in drawn else ():
                yield source
                yield source._replace(module=at.module, node=node.elt, doubled=True)
        elif isinstance(node, ast.Dict) and node.keys == [None]:  # `{**params}`
            yield from self.of(node.values[0], at, depth - 1)
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
        stored = (
            self.stored(base, key, at) if isinstance(key, str) and isinstance(node, ast.Attribute) else None
        )
        if stored is not None:
            for source in self.of(*stored, depth - 1):
                yield _named(source, at.module, node)
            return
        if isinstance(base, ast.Name) and base.id == "self":
            yield Source(("self", key), at.module, node)
            return
        found = list(self.of(base, at, depth - 1))
        if len(found) == 1:
            yield Source((*found[0].way, key), at.module, node)

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
        same = self.same_as(node, at)
        if same is not None:
            yield from self.of(same, at, depth - 1)
            return
        function, is_container = self.callee(callee, at)
        if function is not None:
            yield from self._of_result(node, function, at, depth)
        elif is_container or name in _BUILDERS or name == "cls" or name.endswith("State"):
            given = [
                *(a.value if isinstance(a, ast.Starred) else a for a in node.args),
                *(k.value for k in node.keywords if k.arg not in ("key", "rng", "rngs")),
            ]
            if name in ("replace", "_replace") and isinstance(callee, ast.Attribute):
                given.insert(0, callee.value)
            for item in given:
                yield from self.of(item, at, depth - 1)
        else:
            yield Source((node,), at.module, node)

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
