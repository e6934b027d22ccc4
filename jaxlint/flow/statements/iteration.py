"""What a loop variable is, given what it runs over."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.few import is_enum
from jaxlint.flow.domain.joining import join_all
from jaxlint.flow.domain.kinds import (
    API,
    ARRAYS,
    BOUNDARY,
    CLASS,
    CONSTANT,
    FOREIGN,
    FUNCTION,
    HOST,
    INSTANCE,
    PARAMETER,
    SCALAR,
    SHAPE,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.tags import BOOLEAN_MASK, BOUNDED, EVEN, LOW, MEMBER, RAGGED, SHAPED, TEXT
from jaxlint.flow.domain.values import (
    CHUNK,
    LETTER,
    PER_CALL,
    PER_ITERATION,
    SHAPE_VALUE,
    TRACED_PARAMETER,
    UNKNOWN_VALUE,
    Choices,
    Origin,
    Value,
    is_number,
    parts,
)
from jaxlint.flow.frame import Frame

LITERAL_DISPLAY = 8  # a comprehension over a display of at most so many members is no loop
_CHOSEN = 16  # so many members of a sequence are told apart
_TOLD_APART = frozenset((CONSTANT, FUNCTION, BOUNDARY, CLASS, API, FOREIGN, INSTANCE))
FEW = 3  # so many values of a loop variable are a bounded set


def is_literal_display(node: ast.expr) -> bool:
    """A tuple, list or set display of few members."""
    return isinstance(node, (ast.Tuple, ast.List, ast.Set)) and len(node.elts) <= LITERAL_DISPLAY


def element_of(value: Value) -> Value:
    """One member of a container or a slice of an array, whichever."""
    kind = value.kind
    if kind == PARAMETER:
        return TRACED_PARAMETER
    if kind in ARRAYS:
        if value.element is not None and kind == HOST:
            return value.element  # of texts
        tags = value.tags & (BOOLEAN_MASK | LOW) | (MEMBER if kind == HOST else 0)
        return Value(kind, 0, tags, None, None, value.origin, value.size)
    if kind == TREE:
        if value.element is not None:
            return value.element
        members = parts(value)
        return (join_all(members) if members else None) or UNKNOWN_VALUE
    if kind == SHAPE:
        return SHAPE_VALUE
    if value.tags & TEXT or (kind == CONSTANT and isinstance(value.data, str)):
        return LETTER
    if value.tags & LOW:
        return Value(UNKNOWN, 0, LOW, None, None, value.origin)
    return Value(UNKNOWN, 0, BOUNDED) if is_enum(value) else UNKNOWN_VALUE


def as_iterable(frame: Frame, value: Value, node: ast.AST) -> Value:
    """What a loop runs over: an object of the project gives what its `__iter__` yields, or its `__next__`."""
    if value.kind != INSTANCE:
        return value
    from jaxlint.flow.calls.dispatch import call_value
    from jaxlint.flow.expressions.attributes import bound_method
    from jaxlint.flow.frame import Call

    for name in ("__iter__", "__next__", "__getitem__"):
        method = value.data.cls.lookup(name)
        if method is None:
            continue
        result = call_value(frame, bound_method(frame, method, value, node), Call(node, [], {}))
        if name == "__iter__" and result.kind == INSTANCE:
            continue  # returns itself: its `__next__` tells
        return result if name == "__iter__" else Value(TREE, 0, 0, None, result)
    return value


def iterated(frame: Frame, iterable: Value, source: ast.AST, loop: ast.AST) -> Value:
    """The loop variable: an element that changes with each iteration."""
    iterable = as_keys(iterable)
    element = element_of(iterable)
    most = FEW if isinstance(loop, (ast.For, ast.AsyncFor)) else LITERAL_DISPLAY
    if iterable.data.__class__ is list:
        bounded = len(iterable.data) <= most or _distinct(iterable.data) <= most
    else:  # a generator or a comprehension that goes through few values itself
        bounded = element.kind == SCALAR and element.varies >= PER_ITERATION and bool(element.tags & BOUNDED)
    origin = element.origin or Origin(frame.module, source, "list element")
    each = _each(element, origin, bounded)
    if each.tags & TEXT and _are_alike(iterable):
        each = Value(UNKNOWN, each.varies, each.tags | EVEN, None, None, each.origin)
    if _are_items(source) and (each.kind == UNKNOWN or (each.kind == TREE and each.data.__class__ is list)):
        # Whoever fills a dict chooses its keys, a few, and returns to them.
        each = chosen(frame, each, iterable, source) if iterable.data.__class__ is list else each
        return Value(TREE, PER_ITERATION, each.tags, [UNKNOWN_VALUE, *(parts(each) or [each])[-1:]])
    return chosen(frame, each, iterable, source) if iterable.data.__class__ is list else each


def _distinct(members: list[Value]) -> int:
    """How many members a display has, each number or row of numbers counted once."""
    known = [_written(v) for v in members]
    return known.count(None) + len(set(known) - {None})


def _written(value: Value) -> tuple[object, ...] | None:
    """What stands in the source; None for what is known in part only."""
    if value.kind == CONSTANT and isinstance(value.data, (int, float, str)):
        return (type(value.data), value.data)
    if value.kind == TREE and value.data.__class__ is list:
        row = tuple(_written(v) for v in value.data)
        return None if None in row else row
    return None


def _are_alike(sequence: Value) -> bool:
    """Whether texts that are all known differ in length by blanks alone, or by the names before what they say:
    what is made of each may have one length."""
    members = sequence.data if sequence.data.__class__ is list else []
    if not all(v.kind == CONSTANT and isinstance(v.data, str) for v in members):
        return False
    rows = [words for v in members if (words := v.data.split())]
    letters = {sum(map(len, words)) for words in rows}
    longest = {(len(words), max(map(len, words))) for words in rows}
    return bool(rows) and (len(letters) == 1 or len(longest) == 1)


def as_keys(iterable: Value) -> Value:
    """What a loop over a dict takes in turn; anything else as it is."""
    if iterable.kind != TREE:
        return iterable
    if iterable.data.__class__ is dict and iterable.data:
        known = all(isinstance(key, (str, int)) for key in iterable.data)
        keys = [Value(CONSTANT, data=key) for key in iterable.data] if known else None
        return Value(TREE, iterable.varies, iterable.tags, keys, None, iterable.origin)
    if iterable.data is None and iterable.origin is not None and iterable.origin.word == "dict":
        return Value(TREE, iterable.varies, iterable.tags & ~SHAPED, None, None, iterable.origin)
    return iterable


def chosen(frame: Frame, each: Value, sequence: Value, source: ast.AST) -> Value:
    """The loop variable over a sequence whose members are all known: which numbers it takes, in which order."""
    members = list(sequence.data)
    display = sequence.origin.node if sequence.origin is not None else None
    if isinstance(display, (ast.Tuple, ast.List)) and len(display.elts) == len(members):
        module = sequence.origin.module  # type: ignore[union-attr]  # the display is from there
        members = [
            v.but(origin=Origin(module, at, "literal")) if v.kind == CONSTANT and v.origin is None else v
            for v, at in zip(members, display.elts, strict=True)
        ]
    at = Origin(frame.module, source, "list element")
    return _with_choices(each, members, at, alone=True) if len(members) <= _CHOSEN else each


def _with_choices(each: Value, members: list[Value], at: Origin, alone: bool = False) -> Value:
    """`alone`: no other variable goes through the same sequence, from which this one would have to be told."""
    rows = at.module.place(at.node)
    if each.kind == SCALAR:
        known = any(v.kind == CONSTANT for v in members)
        choices = Choices(rows, tuple(members)) if known else each.data
        return Value(SCALAR, each.varies, each.tags, choices, None, each.origin, each.size)
    if each.kind == TREE and each.data.__class__ is list:
        width = len(each.data)
        if any(m.data.__class__ is not list or len(m.data) != width for m in members):
            return each
        columns = [[m.data[position] for m in members] for position in range(width)]
        parts_of = [_with_choices(v, column, at) for v, column in zip(each.data, columns, strict=True)]
        return Value(TREE, each.varies, each.tags, parts_of, None, each.origin, each.size)
    if each.kind == INSTANCE:
        return _instance_with_choices(each, members, at)
    if (
        alone
        or each.kind == CONSTANT
        or each.kind in ARRAYS
        or not all(v.kind in _TOLD_APART for v in members)
    ):
        return each
    return each.but(origin=(each.origin or at)._replace(extra=Choices(rows, tuple(members))))


def _instance_with_choices(each: Value, members: list[Value], at: Origin) -> Value:
    if any(m.kind != INSTANCE or m.data.cls is not each.data.cls for m in members):
        return each
    thing = each.data.described()
    for name, field in each.data.fields.items():
        if field.kind in (INSTANCE, TREE):
            continue  # object graphs have cycles
        column = [m.data.fields.get(name, UNKNOWN_VALUE) for m in members]
        thing.fields[name] = _with_choices(field, column, at)
    return Value(INSTANCE, each.varies, each.tags, thing, None, each.origin)


def _are_items(source: ast.AST) -> bool:
    """`table.items()`."""
    return (
        isinstance(source, ast.Call)
        and isinstance(source.func, ast.Attribute)
        and source.func.attr == "items"
    )


def picked(element: Value, origin: Origin) -> Value:
    """A member of a container at an index that is another one each time."""
    kind = element.kind
    differs = (
        element.tags & SHAPED
        or kind in (INSTANCE, UNKNOWN)
        or (kind == TREE and element.data.__class__ is list)
    )
    return _each(element, origin, False) if differs else element


def _each(element: Value, origin: Origin, bounded: bool) -> Value:
    kind = element.kind
    if kind == TREE and element.data.__class__ is list:
        members = [_each(v, v.origin or origin, bounded) for v in element.data]
        return Value(TREE, PER_ITERATION, element.tags, members, None, element.origin)
    if is_number(element) or kind == SHAPE:
        if kind == CONSTANT and isinstance(element.data, bool):
            return Value(SCALAR, PER_ITERATION, BOUNDED, None, None, origin)
        few = bounded or origin.word == CHUNK
        tags = element.tags & ~BOUNDED | (BOUNDED if few else 0)
        choices = element.data if kind == SCALAR else None
        return Value(SCALAR, PER_ITERATION, tags, choices, None, origin)
    if kind == CONSTANT and isinstance(element.data, str):
        tags = TEXT | EVEN | (BOUNDED if bounded else 0)
        return Value(UNKNOWN, PER_ITERATION, tags, None, None, origin, len(element.data))
    if element.tags & TEXT:
        tags = TEXT | element.tags & EVEN | (BOUNDED if bounded else element.tags & BOUNDED)
        return Value(UNKNOWN, PER_ITERATION, tags, None, None, origin, element.size)
    if kind == UNKNOWN:
        return Value(UNKNOWN, PER_ITERATION, element.tags & (RAGGED | BOUNDED), None, None, element.origin)
    if kind == HOST and element.size == 1:
        return element
    if kind == INSTANCE:
        return _another_object(element, origin, bounded)
    if element.tags & SHAPED and element.varies == PER_CALL:
        return element  # all of one shape, see `as_member`
    return element.but(varies=PER_ITERATION)


def _another_object(element: Value, origin: Origin, bounded: bool) -> Value:
    """One object of many: what differs from one to the next is in its fields."""
    fields = element.data.fields
    apart = {
        name: _each(field, field.origin or origin, bounded)
        for name, field in fields.items()
        if field.tags & SHAPED or (field.varies and (field.kind in (SCALAR, SHAPE) or field.tags & TEXT))
    }
    if not apart:
        return element.but(varies=PER_ITERATION)
    thing = element.data.described()
    thing.fields = {**fields, **apart}
    return Value(INSTANCE, PER_ITERATION, element.tags, thing, None, element.origin)
