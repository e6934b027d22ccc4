"""What a loop hands a boundary first, and from the second round on: another structure, or a type of its own.

The rehearsal of a loop tells what each carried name is before it and after a round. The value that stands for
both is a new object, so that it is known again wherever it is passed; only then are the two compared.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from jaxlint.finding import Place
from jaxlint.flow.boundaries.crossing import Passed
from jaxlint.flow.boundaries.described import describe
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.kinds import ARRAYS, CONCRETE, DEVICE, INSTANCE, TREE
from jaxlint.flow.domain.values import Value, is_none
from jaxlint.flow.facts import Fact, UnstableStructure, WeakStart
from jaxlint.flow.frame import Frame
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.precision.weak_types import is_weak
from jaxlint.flow.retrace.tree_changes import (
    Change,
    Start,
    changes,
    field_start,
    item_start,
    members,
    own_start,
    with_members,
)
from jaxlint.flow.shapes.lengths import changing
from jaxlint.flow.syntax.bindings import bindings_of
from jaxlint.index.written_names import dotted_name
from jaxlint.jax_api.transforms import EAGER


class Carry(NamedTuple):
    """A name that a loop carries, or a leaf of one: its value in front of the loop, and after a round."""

    name: str
    before: Value
    after: Value
    value: Value  # what stands for both
    start: Start
    loop: ast.stmt | None = None  # None: a field, which the calls of a method carry


def carried(frame: Frame, loop: ast.stmt, name: str, before: Value, after: Value, joined: Value) -> Value:
    """The value of a carried name at the start of any round, known again if the two differ in kind."""
    if frame.level != EAGER or before is after or not may_change(before, after):
        return joined
    start = _written(frame, loop, name)
    if start.node is None and before.origin is not None:
        start = Start(before.origin.module, before.origin.node)  # a field
    value = _with_leaves(frame, loop, before, after, joined, name, start)
    if value is joined:
        value = joined.but()
    frame.run.carries[id(value)] = Carry(name, before, after, value, start, loop)
    return value


def _with_leaves(
    frame: Frame, loop: ast.stmt, before: Value, after: Value, joined: Value, name: str, start: Start
) -> Value:
    """The same tree of leaves that are known again, too: `state._replace(x=…)` makes another tree of them."""
    if not before.kind == after.kind == joined.kind or joined.kind not in (TREE, INSTANCE):
        return joined
    old, new, both = members(before), members(after), members(joined)
    if not old or old.keys() != new.keys() or old.keys() != both.keys():
        return joined
    start = own_start(before, start)
    known: dict[Any, Value] = {}
    for key, value in both.items():
        path = f"{name}.{key}" if joined.kind == INSTANCE else f"{name}[{key!r}]"
        at = field_start(start, key) if joined.kind == INSTANCE else item_start(start, key)
        was, now = old[key], new[key]
        if was is not now and is_weak(was) and now.kind in ARRAYS:
            known[key] = leaf = value.but()
            frame.run.carries[id(leaf)] = Carry(path, was, now, leaf, at, loop)
        else:
            leaf = _with_leaves(frame, loop, was, now, value, path, at)
            if leaf is not value:
                known[key] = leaf
    return with_members(joined, {**both, **known}) if known else joined


def may_change(before: Value, after: Value) -> bool:
    if before.kind in (TREE, INSTANCE):
        return after.kind in (TREE, INSTANCE, *CONCRETE)
    if is_none(before):
        return not is_none(after)
    return is_weak(before) and after.kind == DEVICE


def _written(frame: Frame, loop: ast.stmt, name: str) -> Start:
    """The expression that a name was bound to last in front of a loop, where it is in this function."""
    bound = [node for node in bindings_of(frame).of(name) if node.lineno < loop.lineno]
    node = bound[-1] if bound else None
    if node is None and frame.function is not None:
        node = frame.function.defaults.get(name)
    return Start(frame.module, node)


# ---------------------------------------------------------------- facts


class PendingCarry(PendingFact):
    """A carried value that is passed to a boundary as it is at the start of a round, or of a method's call."""

    __slots__ = ("carry", "loop", "place", "proof", "run", "state", "symbol")

    def __init__(self, frame: Frame, state: BoundaryState, node: ast.AST, carry: Carry | None) -> None:
        self.run = frame.run
        self.state = state
        self.place: Place = frame.place(node)
        self.symbol = frame.symbol
        self.proof = frame.proof()
        self.loop = frame.innermost_loop()
        self.carry = carry

    def carried(self) -> Carry | None:
        return self.carry

    def fact(self) -> Fact | None:
        carry = self.carried()
        found = _change(carry) if carry is not None else None
        if carry is None or found is None or not hasattr(found.start.node, "lineno"):
            return None
        assert found.start.node is not None
        place, name = found.start.module.place(found.start.node), f"{carry.name}{found.path}"
        common = (place, self.symbol, self.proof)
        boundary, loop = describe(self.state), self.loop
        if found.what == "weak":
            return WeakStart(
                *common, name=name, use=self.place, boundary=boundary, loop=loop, whole=found.whole
            )
        return UnstableStructure(
            *common, name=name, how=found.what, use=self.place, boundary=boundary, loop=loop
        )


def _change(carry: Carry) -> Change | None:
    """What is said of it: the leaves of what a loop carries are known, and speak for themselves."""
    found = changes(carry.before, carry.after, carry.start)
    apart = carry.loop is not None
    return next((c for c in found if not (apart and c.path and c.what == "weak")), None)


def note_carried(frame: Frame, state: BoundaryState, node: ast.AST, arguments: list[Passed]) -> None:
    """The arguments of an eager boundary call, or members of them, that a loop or an object carries."""
    from jaxlint.flow.retrace.field_carry import note_field_passed

    carries = frame.run.carries
    for passed in arguments:
        if passed.is_static(state):
            continue
        note_field_passed(frame, state, node, passed)
        for value in in_tree(passed.value) if carries else ():
            carry = carries.get(id(value))
            if carry is None or carry.loop not in frame.run.loops:
                continue
            longer = changing(frame, passed.node, value) is not None  # more is said of it, see flow.optional
            if not longer and not is_tested(frame, carry.name):
                frame.log.append(PendingCarry(frame, state, node, carry))


def in_tree(value: Value, depth: int = 0) -> Iterator[Value]:
    """A value and what it holds."""
    yield value
    if depth < 3 and (value.kind == TREE or value.kind == INSTANCE):
        for member in members(value).values():
            yield from in_tree(member, depth + 1)


def is_tested(frame: Frame, name: str) -> bool:
    """Whether the call stands under a test of the name: `if state is None: … else: …`."""
    tests = (branch.test for branch in frame.branches if isinstance(branch, ast.If))
    return any(dotted_name(n) == name for test in tests for n in ast.walk(test))
