"""Abstract values: what is known of an expression's result. Unknown means silence.

A value is immutable by convention (never change one in place: make another); what it refers to in `data` may
be a mutable record of the thing itself (a boundary, an instance).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from jaxlint.flow.facts import Kind, Tag, Varies

if TYPE_CHECKING:
    from jaxlint.finding import Place
    from jaxlint.flow.program import LoadedModule

# Kinds are plain integers: the analysis compares them millions of times.
(
    UNKNOWN,
    CONSTANT,  # data: the Python value
    SCALAR,  # a Python number
    SHAPE,  # static under a trace
    HOST,
    DEVICE,
    TRACED,
    PARAMETER,  # of traced code: perhaps a tree, perhaps None
    FUNCTION,  # data: objects.Closure
    BOUNDARY,  # data: boundary.BoundaryState
    TREE,  # data: list of values, dict of key → value, or None; element: what any member may be
    INSTANCE,  # data: objects.Instance
    CLASS,  # data: objects.ClassInfo
    API,  # data: canonical dotted name
    MODULE,  # data: LoadedModule
    DTYPE,
    INDEXER,  # x.at; data: the array
    PARTIAL,  # data: objects.PartialApi
    FOREIGN,  # an object a known library made; data: objects.Foreign
    LAZY,  # an import of the project not looked at yet; data: (dotted name, importing module's entry)
    ONE_OF,  # one of several callables; data: list of values
) = range(21)

FACT_KINDS: dict[int, Kind] = {
    UNKNOWN: Kind.UNKNOWN,
    CONSTANT: Kind.CONSTANT,
    SCALAR: Kind.SCALAR,
    SHAPE: Kind.SHAPE,
    HOST: Kind.HOST,
    DEVICE: Kind.DEVICE,
    TRACED: Kind.TRACED,
    PARAMETER: Kind.TRACED_PARAMETER,
    FUNCTION: Kind.FUNCTION,
    BOUNDARY: Kind.BOUNDARY,
    TREE: Kind.TREE,
    INSTANCE: Kind.INSTANCE,
    CLASS: Kind.CLASS,
    API: Kind.API,
    MODULE: Kind.MODULE,
    DTYPE: Kind.DTYPE,
    INDEXER: Kind.OTHER,
    PARTIAL: Kind.FUNCTION,
    FOREIGN: Kind.OTHER,
    LAZY: Kind.UNKNOWN,
    ONE_OF: Kind.FUNCTION,
}

# Tags as integers, for the same reason.
BOOLEAN_MASK = int(Tag.BOOLEAN_MASK)
DATA_SHAPE = int(Tag.DATA_SHAPE)
GROWN = int(Tag.GROWN)
FRESH = int(Tag.FRESH)
UPDATED = int(Tag.UPDATED)
SMALL = int(Tag.SMALL)
BOUNDED = int(Tag.BOUNDED)
RAGGED = int(Tag.RAGGED)
TEXT = int(Tag.TEXT)
ZERO_DIM = int(Tag.ZERO_DIM)
# Marks of a loop in its rehearsal, not a fact's business: a name the loop carries round, and what arithmetic
# made of one.
CARRIED = 1 << 16
MOVED = 1 << 17
WEAK = 1 << 18  # a container that holds its keys or values weakly
LOW = 1 << 19  # floats of 16 bits or fewer
LENGTHENED = 1 << 20  # concatenated from parts that have a path, see flow.growth
EVEN = 1 << 23  # another stretch of something each time, or another text of `size` letters, but of one length
NOTHING_OR = 1 << 22  # None on one path, an array, a tree or an object on another
MEMBER = 1 << 21  # an entry of a numpy array: a numpy scalar, unless the array has more axes

# Of what is traced for a call with a weak argument, see flow.weak_types.
STRONG = 1 << 24  # has a dtype of its own
WEAK_TYPED = 1 << 25  # takes the dtype of what it meets
INTEGER = 1 << 26  # of integers
TYPES = STRONG | WEAK_TYPED | INTEGER

CONSTANT_VARIES = int(Varies.CONSTANT)
PER_CALL = int(Varies.PER_CALL)
PER_ITERATION = int(Varies.PER_ITERATION)

ARRAYS = frozenset((HOST, DEVICE, TRACED, PARAMETER))
CONCRETE = frozenset((HOST, DEVICE))
TRACERS = frozenset((TRACED, PARAMETER))
NUMBERS = frozenset((CONSTANT, SCALAR))

# Survive a join if either side has them.
_MAY = DATA_SHAPE | GROWN | UPDATED | RAGGED | WEAK | LENGTHENED | MEMBER | NOTHING_OR
_MUST = BOOLEAN_MASK | BOUNDED | TEXT | LOW | EVEN | TYPES  # only if both have them


_NESTED = 3  # containers in containers are looked into so far

CHUNK = "chunk"  # the word for a size that is one of two, see flow.builtin_numbers


class Origin(NamedTuple):
    """Where a property came from, and a word for it ("loop index", "len", "lambda"...)."""

    module: LoadedModule
    node: ast.AST
    word: str
    extra: Any = None


class Choices(NamedTuple):
    """What a loop variable takes in turn, each of them: `rows` is the sequence, which several variables may share.
    It is the `data` of a SCALAR, and in the origin of anything else that changes together with one."""

    rows: Place
    members: tuple[Value, ...]

    def signature(self) -> tuple[Any, ...]:
        return (self.rows, *[(type(v.data).__name__, v.data) for v in self.members])


class Value:
    """kind, how it varies, tags; `size` is a bound on the number of array elements, if known."""

    __slots__ = ("data", "element", "kind", "origin", "size", "tags", "varies")

    def __init__(
        self,
        kind: int,
        varies: int = 0,
        tags: int = 0,
        data: Any = None,
        element: Value | None = None,
        origin: Origin | None = None,
        size: int | None = None,
    ) -> None:
        self.kind = kind
        self.varies = varies
        self.tags = tags
        self.data = data
        self.element = element
        self.origin = origin
        self.size = size

    def __repr__(self) -> str:
        parts = [FACT_KINDS[self.kind].value]
        if self.data is not None:
            parts.append(repr(self.data)[:60])
        if self.varies:
            parts.append(Varies(self.varies).name.lower())
        if self.tags:
            parts.append(f"tags {self.tags:#x}")
        return f"<{' '.join(parts)}>"

    def but(
        self, *, varies: int | None = None, tags: int | None = None, origin: Origin | None = None
    ) -> Value:
        """The same value with other properties."""
        return Value(
            self.kind,
            self.varies if varies is None else varies,
            self.tags if tags is None else tags,
            self.data,
            self.element,
            origin or self.origin,
            self.size,
        )

    def shallow_signature(self) -> tuple[Any, ...]:
        """The signature of a field: instances in it by identity only."""
        if self.kind == INSTANCE:
            return (self.kind, id(self.data.cls))
        return self.signature()

    def signature(self) -> tuple[Any, ...]:
        """What distinguishes one call of a function from another, for memoisation."""
        kind = self.kind
        extra: Any = None
        if kind == CONSTANT:
            extra = (type(self.data).__name__, repr(self.data)[:40])
        elif kind == TRACED:
            extra = self.size == 1
        elif kind == SCALAR and self.data is not None:
            extra = self.data.signature()
        elif kind == TREE:
            if self.data.__class__ is list:
                extra = tuple([v.signature() for v in self.data[:8]])
            elif self.data.__class__ is dict:
                extra = tuple([(str(k), v.signature()) for k, v in list(self.data.items())[:8]])
            if self.element is not None:
                extra = (extra, self.element.kind, self.element.varies, self.element.tags)
        elif kind == INSTANCE and self.data.cls.is_pytree_value:
            extra = (
                id(self.data.cls),
                tuple([(k, v.shallow_signature()) for k, v in self.data.fields.items()]),
            )
        elif kind >= FUNCTION and kind != DTYPE:
            extra = self.data if kind == API else self.data.api if kind == FOREIGN else id(self.data)
        return (kind, self.varies, self.tags & ~LENGTHENED, extra)


UNKNOWN_VALUE = Value(UNKNOWN)
PER_CALL_UNKNOWN = Value(UNKNOWN, PER_CALL)
NONE = Value(CONSTANT)
TRUE = Value(CONSTANT, data=True)
FALSE = Value(CONSTANT, data=False)
TRACED_VALUE = Value(TRACED)
TRACED_MASK = Value(TRACED, tags=BOOLEAN_MASK)
TRACED_PARAMETER = Value(PARAMETER)
DEVICE_VALUE = Value(DEVICE)
# What a jit hands on untouched of an argument that may be a container: an array, or a tree of arrays.
PERHAPS_TREE = "perhaps a tree"
DEVICE_MASK = Value(DEVICE, tags=BOOLEAN_MASK)
HOST_VALUE = Value(HOST)
HOST_MASK = Value(HOST, tags=BOOLEAN_MASK)
SHAPE_VALUE = Value(SHAPE)
SCALAR_VALUE = Value(SCALAR)
BOOL_VALUE = Value(SCALAR, tags=BOUNDED)
TEXT_VALUE = Value(UNKNOWN, tags=TEXT)
DTYPE_VALUE = Value(DTYPE)
ANY_TREE = Value(TREE)

SHAPED = DATA_SHAPE | RAGGED | GROWN  # the shape is not the same each time

_SMALL_ELEMENTS = 1 << 18  # 1 MiB of float32


def is_boundary(value: Value) -> bool:
    """A jit boundary, or a partial of one."""
    return value.kind == BOUNDARY or (value.kind == PARTIAL and value.data.boundary is not None)


def is_number(value: Value) -> bool:
    """A Python number: a scalar, or a constant int or float (a bool counts)."""
    return value.kind == SCALAR or (value.kind == CONSTANT and isinstance(value.data, (int, float)))


def is_small(value: Value) -> bool:
    """Proven under 1 MiB from shapes in view."""
    if value.tags & SMALL:
        return True
    if value.kind == TREE or value.kind == INSTANCE:
        members = parts(value)
        return bool(members) and all(is_small(v) for v in members)
    if value.kind in NUMBERS:
        return True
    return value.size is not None and value.size < _SMALL_ELEMENTS


def has_types(value: Value, depth: int = 0) -> bool:
    """Whether the type of a leaf is followed, see flow.weak_types."""
    if value.kind == TREE or value.kind == INSTANCE:
        return depth < 3 and any(has_types(part, depth + 1) for part in parts(value))
    return bool(value.tags & TYPES)


def like(value: Value, kind: int | None = None) -> Value:
    """An array of another content, its shape as variable as that of `value`."""
    tags = value.tags & (SHAPED | LOW)
    if not tags:
        return Value(value.kind if kind is None else kind, 0, 0, None, None, None, value.size)
    return Value(
        value.kind if kind is None else kind, value.varies, tags, None, None, value.origin, value.size
    )


def as_member(value: Value, depth: int = 0) -> Value:
    """A value among others in a container: that their shapes differ does not make any of them change. What is of
    one shape in each call of the code that fills the container says so still."""
    if value.kind == TREE and value.data.__class__ is list and depth < _NESTED:
        members = [as_member(v, depth + 1) for v in value.data]
        if any(new is not old for new, old in zip(members, value.data, strict=True)):
            return Value(TREE, value.varies, value.tags, members, None, value.origin)
        return value
    if value.kind == INSTANCE and depth < _NESTED:
        fields = {name: as_member(v, depth + 1) for name, v in value.data.fields.items()}
        if any(new is not value.data.fields[name] for name, new in fields.items()):
            thing = value.data.described()
            thing.fields = fields
            return Value(INSTANCE, value.varies, value.tags, thing, None, value.origin)
        return value
    return value.but(varies=0) if value.tags & SHAPED and value.varies >= PER_ITERATION else value


def parts(value: Value) -> list[Value]:
    """The known members of a container or fields of an instance."""
    if value.kind == TREE:
        if value.data.__class__ is list:
            return list(value.data)
        if value.data.__class__ is dict:
            return list(value.data.values())
        return [value.element] if value.element is not None else []
    if value.kind == INSTANCE and value.data is not None:
        return list(value.data.fields.values())
    return []


def tree(members: list[Value] | dict[Any, Value], origin: Origin | None = None, tags: int = 0) -> Value:
    """A tuple, list or dict display."""
    values = members.values() if members.__class__ is dict else members
    varies = max([v.varies for v in values], default=0)
    return Value(TREE, varies, tags, members, None, origin)


def collection(element: Value | None, origin: Origin | None = None) -> Value:
    """A container of any number of like members."""
    return Value(TREE, 0, 0, None, element, origin)


def join(a: Value, b: Value) -> Value:
    """What is known when either may be the value."""
    if a is b:
        return a
    tags = (a.tags | b.tags) & _MAY | a.tags & b.tags & _MUST
    if a.kind == b.kind:
        return _join_alike(a, b, tags)
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
        if other.kind in (DEVICE, HOST, TRACED, TREE, INSTANCE):
            tags |= NOTHING_OR
    elif kinds == {CONSTANT, UNKNOWN}:
        constant, other = (a, b) if a.kind == CONSTANT else (b, a)
        if isinstance(constant.data, str) and other.tags & TEXT:
            same = not other.tags & EVEN or other.size == len(constant.data)
            return other if same else other.but(tags=other.tags & ~EVEN)
    elif kinds == {API, UNKNOWN} and (a if a.kind == UNKNOWN else b).tags & BOUNDED:
        return Value(UNKNOWN, 0, BOUNDED)  # one more of few names
    if kinds <= _CALLABLES:
        return _one_of(a, b)
    if kinds == CONCRETE:
        return Value(DEVICE, 0, tags, None, None, a.origin or b.origin)
    return Value(UNKNOWN, max(a.varies, b.varies), tags, None, None, a.origin or b.origin)


def _join_alike(a: Value, b: Value, tags: int) -> Value:
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
        return a if a.data.api == b.data.api else UNKNOWN_VALUE
    if kind == TREE:
        return _join_trees(a, b, tags, varies, origin)
    if kind == INSTANCE and a.data.cls is b.data.cls:
        return Value(INSTANCE, varies, tags, a.data.joined(b.data), None, origin)
    if kind in _CALLABLES and a.data is not b.data:
        return _one_of(a, b)
    if FUNCTION <= kind < DTYPE or kind == PARTIAL:
        return a if a.data is b.data or (kind == BOUNDARY and a.data is not None) else UNKNOWN_VALUE
    size = None if a.size is None or b.size is None else max(a.size, b.size)
    if tags & TEXT and a.size != b.size:
        tags &= ~EVEN
    small = a.tags & b.tags & SMALL
    carried = (a.tags | b.tags) & (CARRIED | MOVED) if kind == SCALAR else 0
    choices: Choices | str | None = None
    if kind == DEVICE and PERHAPS_TREE in (a.data, b.data):
        choices = PERHAPS_TREE
    if kind == SCALAR and a.data is not None and b.data is not None:
        choices = a.data if a.data.signature() == b.data.signature() else None
    return Value(kind, varies, tags | small | carried, choices, None, origin, size)


_IMPORTED = frozenset((API, MODULE, LAZY))
_CALLABLES = frozenset((FUNCTION, BOUNDARY, CLASS, ONE_OF))
_CHOICES = 6  # so many callables are told apart


def _one_of(a: Value, b: Value) -> Value:
    """Either of two callables, in the order they were met."""
    choices: list[Value] = []
    for value in (*(a.data if a.kind == ONE_OF else [a]), *(b.data if b.kind == ONE_OF else [b])):
        if all(value.data is not known.data for known in choices):
            choices.append(value)
    return Value(ONE_OF, data=choices) if len(choices) <= _CHOICES else UNKNOWN_VALUE


def _join_trees(a: Value, b: Value, tags: int, varies: int, origin: Origin | None) -> Value:
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
