"""What a loop variable is, given what it runs over."""

from __future__ import annotations

import ast

from jaxlint.flow.frame import Frame
from jaxlint.flow.values import (
    ARRAYS,
    BOOLEAN_MASK,
    BOUNDED,
    CHUNK,
    CONSTANT,
    HOST,
    INSTANCE,
    MEMBER,
    PARAMETER,
    PER_ITERATION,
    RAGGED,
    SCALAR,
    SHAPE,
    SHAPE_VALUE,
    TEXT,
    TRACED_PARAMETER,
    TREE,
    UNKNOWN,
    UNKNOWN_VALUE,
    Origin,
    Value,
    is_number,
    join_all,
    parts,
)

LITERAL_DISPLAY = 8  # a comprehension over a display of at most so many members is no loop
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
        tags = value.tags & BOOLEAN_MASK | (MEMBER if kind == HOST else 0)
        return Value(kind, 0, tags, None, None, value.origin, value.size)
    if kind == TREE:
        if value.element is not None:
            return value.element
        members = parts(value)
        return (join_all(members) if members else None) or UNKNOWN_VALUE
    if kind == SHAPE:
        return SHAPE_VALUE
    return UNKNOWN_VALUE


def as_iterable(frame: Frame, value: Value, node: ast.expr) -> Value:
    """What a loop runs over: an object of the project gives what its `__iter__` yields, or its `__next__`."""
    if value.kind != INSTANCE:
        return value
    from jaxlint.flow.attributes import bound_method
    from jaxlint.flow.calls import call_value
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


def iterated(frame: Frame, iterable: Value, source: ast.expr, loop: ast.AST) -> Value:
    """The loop variable: an element that changes with each iteration."""
    element = element_of(iterable)
    most = FEW if isinstance(loop, (ast.For, ast.AsyncFor)) else LITERAL_DISPLAY
    bounded = iterable.data.__class__ is list and len(iterable.data) <= most
    origin = element.origin or Origin(frame.module, source, "list element")
    each = _each(frame, element, origin, bounded)
    if _are_items(source) and (each.kind == UNKNOWN or (each.kind == TREE and each.data.__class__ is list)):
        # Whoever fills a dict chooses its keys, a few, and returns to them.
        return Value(TREE, PER_ITERATION, each.tags, [UNKNOWN_VALUE, *(parts(each) or [each])[-1:]])
    if iterable.data.__class__ is list and is_literal_display(source):
        _note_choices(each, iterable.data)
    return each


def _note_choices(each: Value, members: list[Value]) -> None:
    """Which numbers a loop variable over a display takes."""
    if each.kind == SCALAR:
        each.data = tuple(v.data for v in members if v.kind == CONSTANT)
    elif each.kind == TREE and each.data.__class__ is list:
        rows = [m.data for m in members if m.data.__class__ is list and len(m.data) == len(each.data)]
        for position, part in enumerate(each.data):
            _note_choices(part, [row[position] for row in rows])


def _are_items(source: ast.expr) -> bool:
    """`table.items()`."""
    return (
        isinstance(source, ast.Call)
        and isinstance(source.func, ast.Attribute)
        and source.func.attr == "items"
    )


def _each(frame: Frame, element: Value, origin: Origin, bounded: bool) -> Value:
    kind = element.kind
    if kind == TREE and element.data.__class__ is list:
        members = [_each(frame, v, v.origin or origin, bounded) for v in element.data]
        return Value(TREE, PER_ITERATION, element.tags, members, None, element.origin)
    if is_number(element) or kind == SHAPE:
        if kind == CONSTANT and isinstance(element.data, bool):
            return Value(SCALAR, PER_ITERATION, BOUNDED, None, None, origin)
        few = bounded or origin.word == CHUNK
        tags = element.tags & ~BOUNDED | (BOUNDED if few else 0)
        return Value(SCALAR, PER_ITERATION, tags, None, None, origin)
    if kind == CONSTANT and isinstance(element.data, str):
        return Value(UNKNOWN, PER_ITERATION, TEXT | (BOUNDED if bounded else 0), None, None, origin)
    if element.tags & TEXT:
        tags = TEXT | (BOUNDED if bounded else element.tags & BOUNDED)
        return Value(UNKNOWN, PER_ITERATION, tags, None, None, origin)
    if kind == UNKNOWN:
        return Value(UNKNOWN, PER_ITERATION, element.tags & RAGGED, None, None, element.origin)
    if kind == HOST and element.size == 1:
        return element
    return element.but(varies=PER_ITERATION)
