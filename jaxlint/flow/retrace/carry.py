"""What a loop hands a boundary first, and from the second round on: another structure, or a type of its own.

The rehearsal of a loop tells what each carried name is before it and after a round. The value that stands for
both is a new object, so that it is known again wherever it is passed; only then are the two compared.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.finding import Place
from jaxlint.flow.boundaries.crossing import Passed
from jaxlint.flow.boundaries.described import describe
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.kinds import CONCRETE, CONSTANT, DEVICE, INSTANCE, SCALAR, TRACED, TREE
from jaxlint.flow.domain.objects import Instance
from jaxlint.flow.domain.operand import dotted_name
from jaxlint.flow.domain.tags import INTEGER, NOTHING_OR, STRONG, TYPES
from jaxlint.flow.domain.values import Value, is_number
from jaxlint.flow.facts import Fact, UnstableStructure, WeakStart
from jaxlint.flow.frame import Frame
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.precision.weak_types import is_weak
from jaxlint.flow.program import LoadedModule
from jaxlint.flow.shapes.lengths import changing
from jaxlint.flow.syntax.bindings import bindings_of
from jaxlint.flow.syntax.walking import walk
from jaxlint.jax_api.transforms import EAGER

_ARRAYS = (*CONCRETE, TRACED)  # the fields of an object that a boundary returns are as they are in its trace


_CONSTRUCTORS = frozenset({"__init__", "setup", "__post_init__"})


class Carry(NamedTuple):
    """A name that a loop carries: its value in front of the loop, and after a round."""

    name: str
    before: Value
    after: Value
    value: Value  # what stands for both
    start: Start


class Start(NamedTuple):
    """Where a value was written, as far as its own origin does not tell."""

    module: LoadedModule
    node: ast.AST | None


class Change(NamedTuple):
    """A part that is another thing from the second round on. `what`: "none", "keys", "length", "empty" or "weak";
    `whole`: a weak number becomes an array of integers."""

    what: str
    path: str
    start: Start
    whole: bool


def carried(frame: Frame, loop: ast.stmt, name: str, before: Value, after: Value, joined: Value) -> Value:
    """The value of a carried name at the start of any round, known again if the two differ in kind."""
    if frame.level != EAGER or before is after or not _may_change(before, after):
        return joined
    value = joined.but()
    frame.run.carries[id(value)] = Carry(name, before, after, value, _written(frame, loop, name))
    return value


def field_carried(frame: Frame, thing: Instance, name: str, before: Value, after: Value) -> None:
    """A field is stored again: what a method left there the next call of it begins with."""
    if frame.level == EAGER and _may_change(before, after):
        at = before.origin
        start = Start(at.module, at.node) if at is not None else Start(frame.module, None)
        carry = Carry(f"self.{name}", before, after, after, start)
        frame.run.field_carries.setdefault((thing.identity, name), carry)


def _may_change(before: Value, after: Value) -> bool:
    if before.kind in (TREE, INSTANCE):
        return after.kind in (TREE, INSTANCE, *CONCRETE)
    nothing = before.kind == CONSTANT and before.data is None
    return nothing or (is_weak(before) and after.kind == DEVICE)


def _written(frame: Frame, loop: ast.stmt, name: str) -> Start:
    """The expression that a name was bound to last in front of a loop, where it is in this function."""
    bound = [node for node in bindings_of(frame).of(name) if node.lineno < loop.lineno]
    node = bound[-1] if bound else None
    if node is None and frame.function is not None:
        node = frame.function.defaults.get(name)
    return Start(frame.module, node)


# ---------------------------------------------------------------- comparing


def changes(before: Value, after: Value, start: Start, path: str = "", depth: int = 0) -> Iterator[Change]:
    """The parts that are something else after a round."""
    start = _own_start(before, start)
    if before.kind == CONSTANT and before.data is None:
        if after.kind in (*_ARRAYS, TREE, INSTANCE, SCALAR) or is_number(after) or after.tags & NOTHING_OR:
            yield Change("none", path, start, False)
    elif is_weak(before) and after.kind in _ARRAYS and after.tags & TYPES:
        whole = type(before.data) is int or bool(before.tags & INTEGER)
        to_whole = bool(after.tags & INTEGER)
        if (after.tags & STRONG and (whole or not to_whole)) or (whole and not to_whole):
            yield Change("weak", path, start, to_whole)
    elif depth > 3:
        return
    elif before.kind == after.kind == TREE:
        yield from _in_trees(before, after, start, path, depth)
    elif before.kind == after.kind == INSTANCE and before.data.cls is after.data.cls:
        for name, field in before.data.fields.items():
            new = after.data.fields.get(name)
            if new is not None and before.data.cls.is_pytree_value:
                yield from changes(field, new, _field(start, name), f"{path}.{name}", depth + 1)
    elif _is_empty(before) and after.kind in (*_ARRAYS, INSTANCE):
        yield Change("empty", path, start, False)


def _is_empty(value: Value) -> bool:
    return value.kind == TREE and value.data is not None and not value.data


def _in_trees(before: Value, after: Value, start: Start, path: str, depth: int) -> Iterator[Change]:
    old, new = before.data, after.data
    if old.__class__ is list and new.__class__ is list:
        if len(old) != len(new):
            yield Change("length", path, start, False)
            return
        for i, (was, now) in enumerate(zip(old, new, strict=True)):
            yield from changes(was, now, _item(start, i), f"{path}[{i}]", depth + 1)
    elif old.__class__ is dict and new.__class__ is dict:
        if old.keys() != new.keys():
            yield Change("keys", path, start, False)
            return
        for key, was in old.items():
            yield from changes(was, new[key], _item(start, key), f"{path}[{key!r}]", depth + 1)
    elif _is_empty(before) and new is None and after.element is not None:
        yield Change("empty", path, start, False)


def _own_start(value: Value, start: Start) -> Start:
    """Where a value was written: a display or a literal says so itself."""
    origin = value.origin
    if origin is None or not hasattr(origin.node, "lineno") or origin.word == "field":
        return start
    return Start(origin.module, origin.node)


def _item(start: Start, key: object) -> Start:
    """The member of a display."""
    node = start.node
    if isinstance(node, (ast.Tuple, ast.List)) and type(key) is int and key < len(node.elts):
        return Start(start.module, node.elts[key])
    if isinstance(node, ast.Dict):
        for name, value in zip(node.keys, node.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key:
                return Start(start.module, value)
    return start


def _field(start: Start, name: str) -> Start:
    """The argument of a constructor."""
    node = start.node
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg == name:
                return Start(start.module, keyword.value)
    return start


# ---------------------------------------------------------------- facts


class PendingCarry(PendingFact):
    """A carried value that is passed to a boundary as it is at the start of a round, or of a method's call."""

    __slots__ = ("carry", "field", "loop", "path", "place", "proof", "run", "state", "symbol")

    def __init__(
        self,
        frame: Frame,
        state: BoundaryState,
        node: ast.AST,
        carry: Carry | None,
        field: tuple[object, str],
    ) -> None:
        self.run = frame.run
        self.state = state
        self.place: Place = frame.place(node)
        self.symbol = frame.symbol
        self.proof = frame.proof()
        self.loop = frame.innermost_loop()
        self.carry = carry
        self.field = field

    def fact(self) -> Fact | None:
        carry = self.carry or self._of_field()
        found = next(changes(carry.before, carry.after, carry.start), None) if carry is not None else None
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

    def _of_field(self) -> Carry | None:
        """What a field is at first and after a call, where nothing but that call stores something in it."""
        thing, name = self.field
        carry = self.run.field_carries.get(self.field)
        if carry is None or not isinstance(thing, Instance):
            return None
        line = self.place.span.line
        for method in thing.cls.methods.values():
            for node in walk(method.node):
                if not isinstance(node, ast.Assign) or not _stores_field(node, name):
                    continue
                first = method.name in _CONSTRUCTORS or isinstance(node.value, ast.Constant)
                if not first and not node.lineno <= line <= (node.end_lineno or node.lineno):
                    return None
        return carry


def _stores_field(node: ast.Assign, name: str) -> bool:
    stored = (n for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Attribute))
    return any(n.attr == name and isinstance(n.ctx, ast.Store) for n in stored)


def note_carried(frame: Frame, state: BoundaryState, node: ast.AST, arguments: list[Passed]) -> None:
    """The arguments of an eager boundary call, or members of them, that a loop or an object carries."""
    carries = frame.run.carries
    for passed in arguments:
        if passed.is_static(state):
            continue
        field = _field_passed(frame, passed.node)
        if field is not None:
            frame.log.append(PendingCarry(frame, state, node, None, field))
        members = passed.value.data if passed.value.kind == TREE and carries else None
        values = [passed.value, *(members if members.__class__ is list else ())]
        values += members.values() if members.__class__ is dict else ()
        for value in values:
            carry = carries.get(id(value))
            longer = changing(frame, passed.node, value) is not None  # more is said of it, see flow.optional
            if carry is not None and not longer and not _is_tested(frame, carry.name):
                frame.log.append(PendingCarry(frame, state, node, carry, (None, "")))


def _field_passed(frame: Frame, node: ast.AST) -> tuple[object, str] | None:
    """The object and the field of `self.x`, where the method has not stored another value there before."""
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)) or frame.function is None:
        return None
    owner = frame.names.get(node.value.id)
    if owner is None or owner.kind != INSTANCE or f"{node.value.id}.{node.attr}" in frame.names:
        return None
    return None if _is_tested(frame, f"{node.value.id}.{node.attr}") else (owner.data.identity, node.attr)


def _is_tested(frame: Frame, name: str) -> bool:
    """Whether the call stands under a test of the name: `if state is None: … else: …`."""
    tests = (branch.test for branch in frame.branches if isinstance(branch, ast.If))
    return any(dotted_name(n) == name for test in tests for n in ast.walk(test))
