"""Where paths meet: what is known of a value, or of all names, that came there in two ways.

What may be harmful survives if either has it, what must hold for a claim only if both have it.
"""

from __future__ import annotations

from collections.abc import Iterable

from jaxlint.flow.domain.kinds import (
    API,
    BOUNDARY,
    CLASS,
    CONCRETE,
    CONSTANT,
    DEVICE,
    DTYPE,
    FOREIGN,
    FUNCTION,
    HOST,
    INSTANCE,
    LAZY,
    MODULE,
    NUMBERS,
    ONE_OF,
    PARAMETER,
    PARTIAL,
    SCALAR,
    TRACED,
    TRACERS,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.tags import (
    BOOLEAN_MASK,
    BOUNDED,
    CARRIED,
    COPIED,
    DATA_SHAPE,
    EVEN,
    GROWN,
    LENGTHENED,
    LOW,
    MEMBER,
    MOVED,
    NO_FLOATS,
    NOTHING_OR,
    RAGGED,
    SMALL,
    TEXT,
    TYPES,
    UPDATED,
    WEAK,
)
from jaxlint.flow.domain.values import (
    BOOL_VALUE,
    PERHAPS_TREE,
    UNKNOWN_VALUE,
    Choices,
    Origin,
    Value,
    is_number,
    parts,
)

# Survive if either side has them.
_MAY = DATA_SHAPE | GROWN | UPDATED | RAGGED | WEAK | LENGTHENED | MEMBER | NOTHING_OR | COPIED
_MUST = BOOLEAN_MASK | BOUNDED | TEXT | LOW | EVEN | TYPES | NO_FLOATS  # only if both have them

_IMPORTED = frozenset((API, MODULE, LAZY))
_CALLABLES = frozenset((FUNCTION, BOUNDARY, CLASS, ONE_OF))
_CHOSEN = _CALLABLES | {INSTANCE}
_CHOICES = 6  # so many callables are told apart


def join(a: Value, b: Value) -> Value:
    """What is known when either may be the value."""
    if a is b:
        return a
    tags = (a.tags | b.tags) & _MAY | a.tags & b.tags & _MUST
    if (a.tags ^ b.tags) & LOW and (b if a.tags & LOW else a).tags & NO_FLOATS:
        tags |= LOW
    if a.kind == b.kind:
        return _alike(a, b, tags)
    kinds = {a.kind, b.kind}
    if DEVICE in kinds and (is_number(a) or is_number(b)):
        array = a if a.kind == DEVICE else b
        return Value(DEVICE, 0, tags | (array.tags & SMALL), None, None, array.origin, array.size)
    if kinds <= TRACERS:
        return Value(PARAMETER, 0, tags)
    if kinds == NUMBERS:
        constant, scalar = (a, b) if a.kind == CONSTANT else (b, a)
        if isinstance(constant.data, (int, float)):
            return Value(
                SCALAR, scalar.varies, tags | scalar.tags & (CARRIED | MOVED), None, None, scalar.origin
            )
        return UNKNOWN_VALUE
    if CONSTANT in kinds and (a.data is None if a.kind == CONSTANT else b.data is None):
        other = b if a.kind == CONSTANT else a
        if other.kind in _IMPORTED:
            return other  # `except ImportError: module = None`: who uses it has it
        if other.kind in _CALLABLES:
            return other.but(tags=other.tags | NOTHING_OR)  # `self.step = None`, until it is compiled
        if other.kind in (DEVICE, HOST, TRACED, TREE, INSTANCE):
            tags |= NOTHING_OR
    elif kinds == {CONSTANT, UNKNOWN}:
        constant, other = (a, b) if a.kind == CONSTANT else (b, a)
        if isinstance(constant.data, str) and other.tags & TEXT:
            same = not other.tags & EVEN or other.size in (None, len(constant.data))
            return other if same else other.but(tags=other.tags & ~EVEN)
    elif kinds == {API, UNKNOWN} and (a if a.kind == UNKNOWN else b).tags & BOUNDED:
        return Value(UNKNOWN, 0, BOUNDED)  # one more of few names
    if kinds <= _CHOSEN:
        return _one_of(a, b, tags)
    if kinds == CONCRETE:
        return Value(DEVICE, 0, tags, None, None, a.origin or b.origin)
    return Value(UNKNOWN, max(a.varies, b.varies), tags, None, None, a.origin or b.origin)


def _alike(a: Value, b: Value, tags: int) -> Value:
    kind = a.kind
    varies = max(a.varies, b.varies)
    origin = a.origin if a.varies >= b.varies and a.origin else b.origin or a.origin
    if kind == CONSTANT:
        if type(a.data) is type(b.data) and a.data == b.data:
            return a
        if isinstance(a.data, bool) and isinstance(b.data, bool):
            return BOOL_VALUE
        if is_number(a) and is_number(b):
            return Value(SCALAR, 0, tags | BOUNDED)
        if isinstance(a.data, str) and isinstance(b.data, str):
            even = EVEN if len(a.data) == len(b.data) else 0
            return Value(
                UNKNOWN, 0, tags | TEXT | BOUNDED | even, None, None, None, len(a.data) if even else None
            )
        return Value(UNKNOWN, varies, tags)
    if kind == UNKNOWN and (a.data is not None or b.data is not None):
        if a.data is None or (b.data is not None and b.data.donating):
            return b  # a watch, see flow.watching: a donating one says more
        return a
    if kind == API:
        return a if a.data == b.data else Value(UNKNOWN, 0, BOUNDED)
    if kind == FOREIGN:
        return _larger(a, b) if a.data.api == b.data.api else UNKNOWN_VALUE
    if kind == TREE:
        return _trees(a, b, tags, varies, origin)
    if kind == INSTANCE and a.data.cls is b.data.cls:
        return Value(INSTANCE, varies, tags, a.data.joined(b.data), None, origin)
    if kind == ONE_OF or (kind in _CHOSEN and a.data is not b.data):
        return _one_of(a, b, tags)
    if FUNCTION <= kind < DTYPE or kind == PARTIAL:
        return a if a.data is b.data or (kind == BOUNDARY and a.data is not None) else UNKNOWN_VALUE
    size = None if a.size is None or b.size is None else max(a.size, b.size)
    if tags & TEXT and a.size != b.size and None not in (a.size, b.size):
        tags &= ~EVEN
    small = a.tags & b.tags & SMALL
    carried = (a.tags | b.tags) & (CARRIED | MOVED) if kind == SCALAR else 0
    choices: Choices | str | None = None
    if kind == DEVICE and PERHAPS_TREE in (a.data, b.data):
        choices = PERHAPS_TREE
    if kind == SCALAR and a.data is not None and b.data is not None:
        choices = a.data if a.data.signature() == b.data.signature() else None
    return Value(kind, varies, tags | small | carried, choices, None, origin, size)


def _larger(a: Value, b: Value) -> Value:
    """Of two things that one maker made: the one of which less is known, or more is to be kept."""
    for one, other in ((a.size, b.size), (a.data.trees, b.data.trees)):
        if one != other:
            return b if one is not None and (other is None or other > one) else a
    return a


def _one_of(a: Value, b: Value, tags: int) -> Value:
    """Either of two callables, or objects of two classes, in the order they were met."""
    choices: list[Value] = []
    for value in (*alternatives(a), *alternatives(b)):
        alike = next((i for i, known in enumerate(choices) if _is_alike(known, value)), None)
        if alike is None:
            choices.append(value)
        elif value.kind == INSTANCE:
            choices[alike] = join(choices[alike], value)
    return Value(ONE_OF, 0, tags & NOTHING_OR, choices) if len(choices) <= _CHOICES else UNKNOWN_VALUE


def alternatives(value: Value) -> list[Value]:
    """What the value may be: itself, or each of several."""
    several: list[Value] = value.data if value.kind == ONE_OF else [value]
    return several


def _is_alike(known: Value, value: Value) -> bool:
    if known.kind == value.kind == INSTANCE:
        return known.data.cls is value.data.cls
    return known.data is value.data


def _trees(a: Value, b: Value, tags: int, varies: int, origin: Origin | None) -> Value:
    if a.data.__class__ is list and b.data.__class__ is list and len(a.data) == len(b.data):
        return Value(
            TREE, varies, tags, [join(p, q) for p, q in zip(a.data, b.data, strict=True)], None, origin
        )
    if a.data.__class__ is dict and b.data.__class__ is dict and a.data.keys() == b.data.keys():
        return Value(TREE, varies, tags, {k: join(v, b.data[k]) for k, v in a.data.items()}, None, origin)
    if a.data.__class__ is b.data.__class__ is list:
        tags |= RAGGED  # of two lengths
    return Value(TREE, varies, tags, None, join_all([*parts(a), *parts(b)]), origin)


def join_all(values: Iterable[Value]) -> Value | None:
    """The join of all, None of none."""
    result: Value | None = None
    for value in values:
        result = value if result is None else join(result, value)
    return result


def join_environments(
    one: dict[str, Value] | None, other: dict[str, Value] | None
) -> dict[str, Value] | None:
    """The join of two environments, made in place in the first. A name bound on one side only is kept as it
    is: reading it on the other path is Python's own error."""
    if one is None:
        return other
    if other is None:
        return one
    for name, value in other.items():
        known = one.get(name)
        if known is None:
            one[name] = value
        elif known is not value:
            one[name] = join(known, value)
    return one
