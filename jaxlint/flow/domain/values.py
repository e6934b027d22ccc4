"""Abstract values: what is known of an expression's result. Unknown means silence.

A value is immutable by convention (never change one in place: make another); what it refers to in `data` may
be a mutable record of the thing itself (a boundary, an instance).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from jaxlint.flow.domain.kinds import (
    API,
    BOUNDARY,
    CONSTANT,
    DEVICE,
    DTYPE,
    FACT_KINDS,
    FOREIGN,
    FUNCTION,
    HOST,
    INSTANCE,
    ONE_OF,
    PARAMETER,
    PARTIAL,
    SCALAR,
    SHAPE,
    TRACED,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.tags import BOOLEAN_MASK, BOUNDED, EVEN, LENGTHENED, LOW, SHAPED, TEXT, TYPES
from jaxlint.flow.facts import Varies

if TYPE_CHECKING:
    from jaxlint.finding import Place
    from jaxlint.flow.program import LoadedModule

# How often a value changes. An integer, like kinds and tags.
PER_CALL = int(Varies.PER_CALL)
PER_ITERATION = int(Varies.PER_ITERATION)

MEBIBYTE = 1 << 18  # elements of 4 bytes
_PASSAGE = 40  # letters: a longer text is data
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
        self,
        *,
        kind: int | None = None,
        varies: int | None = None,
        tags: int | None = None,
        origin: Origin | None = None,
    ) -> Value:
        """The same value with other properties."""
        return Value(
            self.kind if kind is None else kind,
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
            extra = (type(self.data).__name__, self.data if is_passage(self) else repr(self.data)[:40])
        elif kind == TRACED:
            extra = self.size == 1
        elif kind == DEVICE:
            extra = self.size is not None and self.size < MEBIBYTE
        elif kind == UNKNOWN:  # mostly of no size, and that is no reason to look again
            extra = self.size is not None and self.size >= MEBIBYTE
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
        elif kind == ONE_OF:
            extra = tuple([id(v.data) for v in self.data])
        elif kind == FOREIGN:
            extra = (self.data.api, self.size is not None and self.size < MEBIBYTE)
        elif kind >= FUNCTION and kind != DTYPE:
            extra = self.data if kind == API else id(self.data)
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
BOOL_VALUE = Value(SCALAR, tags=BOUNDED)
TEXT_VALUE = Value(UNKNOWN, tags=TEXT)
LETTER = Value(UNKNOWN, tags=TEXT | EVEN, size=1)


def is_boundary(value: Value) -> bool:
    """A jit boundary, or a partial of one."""
    return value.kind == BOUNDARY or (value.kind == PARTIAL and value.data.boundary is not None)


def is_none(value: Value) -> bool:
    return value.kind == CONSTANT and value.data is None


def is_passage(value: Value) -> bool:
    """A text of several lines or words in the source: data that a function takes apart."""
    if value.kind != CONSTANT or not isinstance(value.data, str):
        return False
    return "\n" in value.data or len(value.data) > _PASSAGE


def is_number(value: Value) -> bool:
    """A Python number: a scalar, or a constant int or float (a bool counts)."""
    return value.kind == SCALAR or (value.kind == CONSTANT and isinstance(value.data, (int, float)))


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
