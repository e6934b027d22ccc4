"""Loops in two passes: the first, with facts off, marks the names that the loop carries round; what still
depends on a mark after it changes in each iteration."""

from __future__ import annotations

import ast
from collections.abc import Callable

from jaxlint.flow.boundaries.clearing import note_consumer
from jaxlint.flow.domain.joining import join, join_environments
from jaxlint.flow.domain.kinds import (
    ARRAYS,
    CONSTANT,
    DEVICE,
    HOST,
    INSTANCE,
    SCALAR,
    SHAPE,
    TRACED,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.origin_words import ACCUMULATOR
from jaxlint.flow.domain.sizes import is_small
from jaxlint.flow.domain.tags import BOUNDED, CARRIED, GROWN, INTEGER, MOVED, SMALL, ZERO_DIM
from jaxlint.flow.domain.values import PER_CALL, PER_ITERATION, Origin, Value, is_none, is_number
from jaxlint.flow.frame import Frame, Loop, evaluate, execute, statement
from jaxlint.flow.retrace.carry import carried
from jaxlint.flow.retrace.filled import note_counts, note_filled
from jaxlint.flow.retrace.growth import after_loop, growing_in
from jaxlint.flow.retrace.mutation import LoopEnd, LoopStart
from jaxlint.flow.shapes.lengths import of_own_length, resized
from jaxlint.flow.statements.assignment import assign, target_names
from jaxlint.flow.statements.iteration import as_iterable, iterated
from jaxlint.flow.statements.moved_members import move_members, settle_members
from jaxlint.flow.statements.wrapping import begins_again
from jaxlint.flow.trace import traced
from jaxlint.flow.trace.unrolled import note_loop
from jaxlint.index.walking import LoopNode
from jaxlint.jax_api.transforms import JIT


@statement(ast.For, ast.AsyncFor)
def for_(frame: Frame, node: ast.For | ast.AsyncFor) -> bool:
    frame.statement = node
    iterable = as_iterable(frame, evaluate(frame, node.iter), node.iter)
    traced.iterate(frame, node.iter, iterable)
    note_consumer(frame, node.iter, node.body)

    def head() -> None:
        assign(frame, node.target, iterated(frame, iterable, node.iter, node))

    return _loop(frame, node, head, iterable)


@statement(ast.While)
def while_(frame: Frame, node: ast.While) -> bool:
    def head() -> None:
        traced.truth(frame, node.test, evaluate(frame, node.test), "while")

    return _loop(frame, node, head)


def _loop(frame: Frame, node: LoopNode, head: Callable[[], None], iterable: Value | None = None) -> bool:
    frame.loop += 1
    branches, frame.branches = frame.branches, ()
    base = frame.names
    names = carried_names(frame, node)
    _look_up_fields(frame, names)
    moved = move_members(frame, node)
    held = [name for name in names if name in base]
    start = dict(base) if frame.quiet else _rehearse(frame, node, head, iterable, base, held)
    frame.names = start
    frame.log.append(LoopStart())
    growing = None if frame.quiet else frozenset[str]()
    if frame.grows and not frame.quiet:
        bound: list[str] = []
        if not isinstance(node, ast.While):
            target_names(node.target, bound)  # new in each round
        growing = growing_in(frame, node) - frozenset(bound)
    loop = _pass(frame, node, head, iterable, growing)
    frame.log.append(LoopEnd())
    frame.loop -= 1
    if frame.level >= JIT and not frame.quiet:
        note_loop(frame, loop, base)
    frame.branches = branches
    after = join_environments(frame.names, loop.broken) or start
    endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
    if not endless:
        summed = _summed(after, base, held) if iterable is None or _has_rounds(iterable) else {}
        after = join_environments(after, base) or after
        after.update(summed)
    frame.names = after
    if frame.grows:
        after_loop(frame, node)
    if not frame.level:
        source = (
            of_own_length(frame, node.iter, iterable)
            if iterable and not isinstance(node, ast.While)
            else None
        )
        note_filled(frame, node, resized(frame, node), source)
        note_counts(frame, node, names)
    settle_members(moved)
    _settle(frame, names)
    if endless and loop.broken is None:
        return True
    return execute(frame, node.orelse) if node.orelse else False


def _has_rounds(iterable: Value) -> bool:
    """What is not known to be empty: a range, members in view, an array."""
    if iterable.kind == TREE:
        return bool(iterable.data) or iterable.element is not None
    return iterable.kind in ARRAYS


def _summed(after: dict[str, Value], base: dict[str, Value], names: list[str]) -> dict[str, Value]:
    """The names that are numbers before the loop, and tracers after any round of it."""
    found = ((name, after.get(name)) for name in names if is_number(base[name]))
    return {name: value for name, value in found if value is not None and value.kind == TRACED}


def _look_up_fields(frame: Frame, names: list[str]) -> None:
    """A counter kept on an object (`self.step += 1`) is carried like a name."""
    for name in names:
        owner_name, dot, field = name.partition(".")
        if not dot or name in frame.names or "." in field:
            continue
        owner = frame.names.get(owner_name)
        value = _field(owner, field) if owner is not None and owner.kind == INSTANCE else None
        if value is not None and is_number(value):
            frame.names[name] = value
            frame.dotted = True


def _field(owner: Value, name: str) -> Value | None:
    stored: Value | None = owner.data.fields.get(name)
    return stored if stored is not None else owner.data.cls.attribute(name)


def _pass(
    frame: Frame,
    node: LoopNode,
    head: Callable[[], None],
    iterable: Value | None,
    growing: frozenset[str] | None = None,
) -> Loop:
    """One walk through head and body; the environment at the end is what the next iteration starts from."""
    loop = Loop(node, iterable)
    loop.growing = growing
    frame.loops.append(loop)
    frame.run.loops.append(node)
    head()
    ended = execute(frame, node.body)
    frame.run.loops.pop()
    frame.loops.pop()
    after = None if ended else frame.names
    frame.names = join_environments(after, loop.continued) or dict(frame.names)
    return loop


def _rehearse(
    frame: Frame,
    node: LoopNode,
    head: Callable[[], None],
    iterable: Value | None,
    base: dict[str, Value],
    names: list[str],
) -> dict[str, Value]:
    """The environment in which the second pass starts."""
    log, frame.log = frame.log, []
    frame.quiet += 1
    frame.names = dict(base)
    for name in names:
        frame.names[name] = _marked(frame, base[name])
    _pass(frame, node, head, iterable)
    out = frame.names
    if any(is_none(base[name]) and not (name in out and is_none(out[name])) for name in names):
        # What a first round alone does, because nothing is there yet, is not what the rounds do.
        frame.names = {**base, **{name: out[name] for name in names if name in out}}
        _pass(frame, node, head, iterable)
        out = join_environments(out, frame.names) or out
    frame.quiet -= 1
    frame.log = log
    start = dict(base)
    for name in names:
        value = out.get(name)
        if value is not None:
            joined = _carried(frame, node, base[name], value)
            if joined.kind == SCALAR and joined.varies and begins_again(node, name):
                joined = joined.but(tags=joined.tags | BOUNDED)
            start[name] = carried(frame, node, name, base[name], value, joined)
    for name, value in out.items():
        if name.startswith("~"):
            start[name] = join(start[name], value) if name in start else value
    return start


def _marked(frame: Frame, value: Value) -> Value:
    # `pos = prompt.shape[1]` may be counted up like any number; in a trace it stays what is known of a shape.
    if is_number(value) or (value.kind == SHAPE and not frame.level):
        whole = INTEGER if type(value.data) is int else 0
        return Value(SCALAR, value.varies, value.tags & ~BOUNDED | CARRIED | whole, None, None, value.origin)
    if value.kind == INSTANCE and any(is_number(field) for field in value.data.fields.values()):
        marked = value.data.described()
        marked.fields = {n: _marked(frame, f) if is_number(f) else f for n, f in value.data.fields.items()}
        return Value(INSTANCE, value.varies, value.tags, marked, None, value.origin)
    return value


def _carried(frame: Frame, node: LoopNode, before: Value, after: Value) -> Value:
    """What a name is at the start of any iteration, given what the rehearsal left it as."""
    if after.kind == SCALAR and after.tags & MOVED:
        return Value(
            SCALAR, PER_ITERATION, after.tags & BOUNDED, None, None, Origin(frame.module, node, ACCUMULATOR)
        )
    if after.kind == SCALAR and after.tags & CARRIED:
        return before
    if after is before:
        return before
    if after.kind == TRACED and is_number(before):
        return after  # `total = 0.0; total += x`: from the second round on
    if after.kind == INSTANCE and before.kind == INSTANCE and after.data.cls is before.data.cls:
        return _carried_instance(frame, node, before, after)
    joined = join(before, after.but(tags=after.tags & ~(CARRIED | MOVED)))
    if is_small(before) and not joined.tags & GROWN and joined.kind not in (SCALAR, CONSTANT):
        # The state of a step keeps its shape.
        scalar = ZERO_DIM if before.size == 1 or is_number(before) else 0
        return joined.but(tags=joined.tags | SMALL | scalar)
    return joined


def _carried_instance(frame: Frame, node: LoopNode, before: Value, after: Value) -> Value:
    """An object that each iteration makes anew from the last: field by field."""
    merged = before.data.joined(after.data)
    if merged is before.data:
        merged = before.data.described()
    varies = 0
    for name, value in after.data.fields.items():
        old = before.data.fields.get(name)
        if old is not None and is_number(old):
            merged.fields[name] = _carried(frame, node, old, value)
        varies = max(varies, merged.fields[name].varies)
    small = SMALL if is_small(before) else 0  # the state of a step keeps its shape
    return Value(INSTANCE, varies, after.tags | small, merged, None, after.origin)


def carried_names(frame: Frame, node: LoopNode) -> list[str]:
    """Plain and dotted names that the body stores, in order."""
    known = frame.module.carried.get(node)
    if known is None:
        names: list[str] = []
        for child in node.body:
            _stores(child, names)
        known = frame.module.carried[node] = list(dict.fromkeys(names))
    return known


def _stores(node: ast.stmt, names: list[str]) -> None:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            target_names(target, names)
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor)):
        target_names(node.target, names)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            if item.optional_vars is not None:
                target_names(item.optional_vars, names)
    for field in ("body", "orelse", "finalbody"):
        for child in getattr(node, field, ()):
            if isinstance(child, ast.stmt) and not isinstance(
                node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
            ):
                _stores(child, names)
    for handler in getattr(node, "handlers", ()):
        for child in handler.body:
            _stores(child, names)
    for case in getattr(node, "cases", ()):
        for child in case.body:
            _stores(child, names)


_SETTLING = frozenset((SCALAR, SHAPE, UNKNOWN, HOST, DEVICE))


def _settle(frame: Frame, names: list[str]) -> None:
    """After the loop its variables have one value each: nothing varies by this loop any more."""
    if frame.loop:
        return
    for name in names:
        value = frame.names.get(name)
        if value is not None and value.varies >= PER_ITERATION and value.kind in _SETTLING:
            frame.names[name] = value.but(varies=PER_CALL)
