"""What grows: an array that a concatenation makes longer, stored where one of its parts came from.

The parts are told by their paths (`cache`, `self.keys`, `state['k']`, `kv[0]`), in the terms of the function
that concatenates; what a function returns is renamed to the paths that its caller passed. A lengthened value
that is stored, in a loop or on an object, where a part of it was, is known to grow.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.kinds import INSTANCE, TREE
from jaxlint.flow.domain.lengthened import Lengthened
from jaxlint.flow.domain.objects import Instance
from jaxlint.flow.domain.tags import DATA_SHAPE, GROWN, LENGTHENED
from jaxlint.flow.domain.values import PER_CALL, PER_ITERATION, Origin, Value
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.syntax.bindings import bindings_of
from jaxlint.index.walking import walk
from jaxlint.index.written_names import dotted_name

_GROWTH = GROWN | LENGTHENED
# What hands back the same array, or another form of it.
_SAME = frozenset({"asarray", "array", "atleast_1d", "atleast_2d", "ravel", "copy", "astype", "reshape"})


def path_of(node: ast.AST) -> str | None:
    """`x`, `self.x`, `state['k']` or `kv[0]`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        base = path_of(node.value)
        return f"{base}[{node.slice.value!r}]" if base else None
    if isinstance(node, ast.Attribute):
        base = path_of(node.value)
        return f"{base}.{node.attr}" if base else None
    return node.id if isinstance(node, ast.Name) else None


def lengthened(frame: Frame, value: Value, call: Call) -> Value:
    """The result of a concatenation: what it is made of is noted, where that has a path."""
    first = call.argument_node(0, "arrays", "tup", "arr", "operands")
    if first is None:
        return value
    return joined(frame, value, _parts(frame, first), call.node)


def joined(frame: Frame, value: Value, members: list[ast.expr], node: ast.AST) -> Value:
    """What is made of these members, one after the other."""
    return marked(frame, value, {path for part in members for path in _paths(frame, part)}, node)


def marked(frame: Frame, value: Value, paths: Iterable[str], node: ast.AST) -> Value:
    """A value that is longer than what these paths lead to."""
    known = frozenset(paths)
    if not known:
        return value
    before = value.origin
    made = before if value.tags & DATA_SHAPE else None
    origin = Origin(frame.module, node, "growth", Lengthened(known, made=made))
    if value.tags & GROWN and before is not None and isinstance(before.extra, Lengthened):
        origin = before._replace(extra=before.extra._replace(paths=known))  # one of the parts grows already
    return value.but(tags=value.tags | LENGTHENED, origin=origin)


def _parts(frame: Frame, node: ast.expr) -> list[ast.expr]:
    """The members of the sequence that is concatenated, or what `append` appends to."""
    if isinstance(node, ast.Name):
        bound = bindings_of(frame).of(node.id)
        if len(bound) == 1 and isinstance(bound[0], (ast.List, ast.Tuple)):
            node = bound[0]
    if isinstance(node, (ast.List, ast.Tuple)):
        return node.elts
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_parts(frame, node.left), *_parts(frame, node.right)]
    return [node]


def bare(frame: Frame, node: ast.AST) -> ast.AST | None:
    """An expression without what only gives it another form; None for another call."""
    while isinstance(node, ast.Call):
        callee = node.func
        if isinstance(callee, ast.Attribute) and callee.attr == "get" and node.args:
            return ast.Subscript(callee.value, node.args[0], ast.Load())
        if not isinstance(callee, ast.Attribute) or callee.attr not in _SAME:
            return None
        library = dotted_name(callee.value) in frame.module.entry.record.imports
        node = node.args[0] if library and node.args else callee.value
    return node


def _paths(frame: Frame, node: ast.expr) -> list[str]:
    """The paths of an expression: its own, and that of what its name was taken from."""
    subject = bare(frame, node)
    own = path_of(subject) if subject is not None else None
    if own is None:
        return []
    root = own.partition(".")[0].partition("[")[0]
    taken = [path for bound in bindings_of(frame).of(root) if (path := path_of(bound))]
    member = bindings_of(frame).member(root)
    if member is not None and (base := path_of(member[0])):
        taken = [f"{base}[{member[1]}]"]
    return [own, *(path + own[len(root) :] for path in taken)]


# ---------------------------------------------------------------- storing


def stored(frame: Frame, path: str, value: Value, kept: bool) -> Value:
    """A value that is stored under a path. `kept`: it outlives the call of the function."""
    if not frame.loop and not kept:
        return value
    loop = frame.loops[-1].node if frame.loops else None
    growing = frame.loops[-1].growing if frame.loops else None

    def confirm(part: Value, where: str) -> Value:
        extra = part.origin.extra if part.origin is not None else None
        if not part.tags & LENGTHENED or not isinstance(extra, Lengthened) or not _within(where, extra.paths):
            return part
        if growing is not None and where not in growing:
            return part  # each round begins with something else
        assert part.origin is not None
        frame.grows = True
        origin = part.origin._replace(extra=extra._replace(loop=loop, path=where))
        return part.but(varies=PER_ITERATION, tags=part.tags & ~LENGTHENED | GROWN, origin=origin)

    return each(value, confirm, path)


def _within(path: str, paths: frozenset[str]) -> bool:
    """Whether a path is one of these, or leads into one."""
    return path in paths or any(path.startswith((f"{p}[", f"{p}.")) for p in paths)


def each(value: Value, change: Callable[[Value, str], Value], path: str = "", depth: int = 0) -> Value:
    """The value with every part of it changed; the same object where nothing is."""
    if depth > 2:
        return value
    if value.kind == TREE and value.data is not None:
        pairs = enumerate(value.data) if value.data.__class__ is list else value.data.items()
        members = {k: (v, each(v, change, f"{path}[{k!r}]", depth + 1)) for k, v in pairs}
        if all(old is new for old, new in members.values()):
            return value
        changed = {k: new for k, (_, new) in members.items()}
        data = list(changed.values()) if value.data.__class__ is list else changed
        return Value(TREE, value.varies, value.tags, data, value.element, value.origin)
    if value.kind == INSTANCE and depth < 2:
        fields = {n: (v, each(v, change, f"{path}.{n}", 2)) for n, v in value.data.fields.items()}
        if all(old is new for old, new in fields.values()):
            return value
        thing: Instance = value.data.described()
        thing.fields = {n: new for n, (_, new) in fields.items()}
        return Value(INSTANCE, value.varies, value.tags, thing, value.element, value.origin)
    return change(value, path)


def growing_in(frame: Frame, node: ast.AST) -> frozenset[str]:
    """The paths of what the rehearsal of a loop left longer than it found it."""
    found: set[str] = set()

    def note(part: Value, _: str) -> Value:
        extra = part.origin.extra if part.tags & GROWN and part.origin is not None else None
        if isinstance(extra, Lengthened) and extra.loop is node:
            found.add(extra.path)
        return part

    for value in frame.names.values():
        each(value, note)
    return frozenset(found)


def after_loop(frame: Frame, node: ast.AST) -> None:
    """What grew in a loop has one length behind it, unless a loop around starts from it again."""

    def settle(part: Value, _: str) -> Value:
        extra = part.origin.extra if part.tags & _GROWTH and part.origin is not None else None
        if not isinstance(extra, Lengthened) or (part.tags & GROWN and extra.loop is not node):
            return part
        assert part.origin is not None
        if part.tags & GROWN and _goes_on(frame, node, extra.paths):
            origin = part.origin._replace(extra=extra._replace(loop=frame.loops[-1].node))
            return part.but(origin=origin)
        return part.but(varies=PER_CALL, tags=part.tags & ~_GROWTH)

    for name, value in list(frame.names.items()):
        frame.names[name] = each(value, settle)


def _goes_on(frame: Frame, inner: ast.AST, paths: frozenset[str]) -> bool:
    """Whether the loop around stores what grows nowhere else, so that its next round starts from it."""
    if not frame.loops:
        return False
    body = frame.loops[-1].node.body
    stores = (n for child in body if child is not inner for n in walk(child))
    return not any(isinstance(getattr(n, "ctx", None), ast.Store) and path_of(n) in paths for n in stores)


# ---------------------------------------------------------------- across calls


def argument_paths(closure: Closure, call: Call) -> dict[str, str | None]:
    """The path that a call passes for each parameter."""
    if not isinstance(call.node, ast.Call) or call.decorator:
        return {}
    params = closure.function.params
    given: dict[str, str | None] = {}
    if closure.offset and params and isinstance(call.node.func, ast.Attribute):
        given[params[0]] = path_of(call.node.func.value)
    free = params[closure.offset + len(closure.bound) :]
    for name, node in zip(free, call.node.args[closure.dropped :], strict=False):
        given[name] = path_of(node)
    given.update({k.arg: path_of(k.value) for k in call.node.keywords if k.arg is not None})
    return given


def passed_on(value: Value, closure: Closure, nodes: list[ast.expr]) -> Value:
    """What `tree.map` makes of leaves: longer than the trees they are of."""
    return renamed(
        value, closure, lambda: dict(zip(closure.function.params, map(path_of, nodes), strict=False))
    )


def renamed(value: Value, closure: Closure, paths: Callable[[], dict[str, str | None]]) -> Value:
    """What a function returns, in its caller's terms."""

    def rename(part: Value, _: str) -> Value:
        extra = part.origin.extra if part.tags & _GROWTH and part.origin is not None else None
        if not isinstance(extra, Lengthened) or part.origin is None:
            return part
        tags, varies, known = part.tags, part.varies, extra.paths
        if tags & GROWN and extra.loop is not None and _holds(closure, extra.loop):
            tags, varies = tags & ~GROWN, PER_CALL  # that loop is over
        if tags & LENGTHENED:
            known = frozenset(_renamed_paths(known, closure, paths()))
            tags = tags if known else tags & ~LENGTHENED
        return part.but(
            varies=varies, tags=tags, origin=part.origin._replace(extra=extra._replace(paths=known))
        )

    return each(value, rename)


def _holds(closure: Closure, loop: ast.AST) -> bool:
    return any(node is loop for node in walk(closure.function.node))


def _renamed_paths(paths: Iterable[str], closure: Closure, given: dict[str, str | None]) -> Iterable[str]:
    outer = closure.scope.names if closure.scope is not None else {}
    for path in paths:
        root = path.partition(".")[0].partition("[")[0]
        if root in closure.function.index or root in closure.function.keyword_only:
            passed = given.get(root)
            if passed:
                yield passed + path[len(root) :]
        elif root in outer:
            yield path
