"""What the calls of a method hand a boundary of a field: first what the constructor left, from then on what the
boundary gave. See flow.carry, which does the same for the rounds of a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.flow.boundaries.crossing import Passed
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.kinds import INSTANCE
from jaxlint.flow.domain.objects import Instance
from jaxlint.flow.domain.values import Value, is_none
from jaxlint.flow.frame import Frame
from jaxlint.flow.precision.weak_types import is_weak
from jaxlint.flow.retrace.carry import Carry, PendingCarry, in_tree, is_tested, may_change
from jaxlint.flow.retrace.restarts import FieldStored, restarted
from jaxlint.flow.retrace.tree_changes import Start, leaves
from jaxlint.flow.syntax.stored_fields import CONSTRUCTORS
from jaxlint.index.walking import walk
from jaxlint.jax_api.transforms import EAGER


def field_carried(frame: Frame, thing: Instance, name: str, before: Value, after: Value) -> None:
    """A field is stored again: what a method left there the next call of it begins with."""
    if frame.level != EAGER or not may_change(before, after):
        return
    at = before.origin
    start = Start(at.module, at.node) if at is not None else Start(frame.module, None)
    carry = Carry(f"self.{name}", before, after, after, start)
    frame.run.field_carries.setdefault((thing.identity, name), carry)
    for was, now, path, where in leaves(before, after, start):
        if was is not now and is_weak(was):
            leaf = Carry(f"self.{name}{path}", was, now, now, where)
            frame.run.field_leaves.setdefault(id(was), (thing.identity, name, leaf))


def field_stored(frame: Frame, thing: Instance, target: ast.Attribute, value: Value) -> None:
    """A method other than the constructor stores something in a field."""
    if frame.level == EAGER and not (frame.function is not None and frame.function.name in CONSTRUCTORS):
        stored = frame.run.field_stores.setdefault((thing.identity, target.attr), [])
        stored.append(FieldStored(frame, target, value))


def note_field_passed(frame: Frame, state: BoundaryState, node: ast.AST, passed: Passed) -> None:
    """An argument that is a field, or a tree that holds what a field is at first."""
    if frame.function is None:
        return
    field = _field(frame, passed.node)
    if field is not None:
        frame.log.append(PendingFieldCarry(frame, state, node, field))
        return
    own = frame.names.get(frame.function.params[0]) if frame.function.params else None
    if own is None or own.kind != INSTANCE:
        return
    for value in in_tree(passed.value):
        if is_weak(value):
            frame.log.append(PendingLeaf(frame, state, node, own.data.identity, value))


def _field(frame: Frame, node: ast.AST) -> tuple[object, str] | None:
    """The object and the field of `self.x`, where the method has not stored another value there before."""
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
        return None
    owner = frame.names.get(node.value.id)
    if owner is None or owner.kind != INSTANCE or f"{node.value.id}.{node.attr}" in frame.names:
        return None
    return None if is_tested(frame, f"{node.value.id}.{node.attr}") else (owner.data.identity, node.attr)


class PendingFieldCarry(PendingCarry):
    """A field that is passed, where nothing but the call that passes it stores something in it, or what other
    methods store is where its rounds begin."""

    __slots__ = ("field", "frame", "node")

    def __init__(self, frame: Frame, state: BoundaryState, node: ast.AST, field: tuple[object, str]) -> None:
        super().__init__(frame, state, node, None)
        self.field = field
        self.frame = frame
        self.node = node

    def carried(self) -> Carry | None:
        thing, name = self.field
        if not isinstance(thing, Instance):
            return None
        line = self.place.span.line
        stored = {id(each.target) for each in self.run.field_stores.get(self.field, ())}
        behind: list[ast.Assign] = []
        others: list[ast.Assign] = []
        for first, node in _stores(thing, name):
            if not first and node.lineno <= line <= (node.end_lineno or node.lineno):
                behind.append(node)
            elif not (first or _is_none(node)) and (
                # A constant is left alone where nothing in view calls what stores it.
                not isinstance(node.value, ast.Constant) or any(id(n) in stored for n in node.targets)
            ):
                others.append(node)
        if others:
            return self._restarted(name, behind, others)
        carry = self.run.field_carries.get(self.field)
        if carry is None:
            return None
        again = _set_back(thing, name) if is_none(carry.before) else None
        return carry._replace(start=again) if again is not None else carry

    def _restarted(self, name: str, behind: list[ast.Assign], others: list[ast.Assign]) -> Carry | None:
        """What another method left in it, where the rounds begin with that."""
        stored = self.run.field_stores.get(self.field, [])
        given = [each.value for each in stored if any(_within(each.target, node) for node in behind)]
        function = self.frame.function
        if not given or function is None or any(_within(node, function.node) for node in others):
            return None
        found = restarted(stored, others, self.frame, self.node, given[-1])
        return Carry(f"self.{name}", found[0], given[-1], given[-1], found[1]) if found is not None else None


class PendingLeaf(PendingCarry):
    """What a field is at first, or a leaf of it, that goes through names or new trees on its way: known again by
    its value, which a store before the call would have replaced."""

    __slots__ = ("function", "leaf", "thing")

    def __init__(self, frame: Frame, state: BoundaryState, node: ast.AST, thing: object, leaf: Value) -> None:
        super().__init__(frame, state, node, None)
        self.thing = thing
        self.leaf = leaf
        self.function = frame.function

    def carried(self) -> Carry | None:
        found = self.run.field_leaves.get(id(self.leaf))
        if found is None or found[0] is not self.thing or not isinstance(self.thing, Instance):
            return None
        line, behind = self.place.span.line, 0
        for first, node in _stores(self.thing, found[1]):
            if first:
                continue
            assert self.function is not None
            if not _within(node, self.function.node):
                return None  # what other methods leave there is theirs
            behind += (node.end_lineno or node.lineno) >= line
        return found[2] if behind == 1 else None


def _stores(thing: Instance, name: str) -> Iterator[tuple[bool, ast.Assign]]:
    """(whether a constructor does it, the statement) of all that its methods store in a field."""
    for method in thing.cls.methods.values():
        for node in walk(method.node):
            if isinstance(node, ast.Assign) and _stores_field(node, name):
                yield method.name in CONSTRUCTORS, node


def _set_back(thing: Instance, name: str) -> Start | None:
    """Where a method puts None there again: from there on the calls begin anew."""
    for first, node in _stores(thing, name):
        if not first and _is_none(node):
            return Start(thing.cls.module, node)
    return None


def _is_none(node: ast.Assign) -> bool:
    return isinstance(node.value, ast.Constant) and node.value.value is None


def _within(node: ast.AST, outer: ast.AST) -> bool:
    return any(child is node for child in walk(outer))


def _stores_field(node: ast.Assign, name: str) -> bool:
    stored = (n for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Attribute))
    return any(n.attr == name and isinstance(n.ctx, ast.Store) for n in stored)
