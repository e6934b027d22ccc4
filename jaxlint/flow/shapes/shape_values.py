"""Shapes and numbers as far as they are known, and what operators make of them. None is what is not known."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias


class Array(NamedTuple):
    """An array, each size a number or not known."""

    shape: tuple[int | None, ...]


class Number(NamedTuple):
    """A Python number, its value if it is an int in view."""

    value: int | None


class Items(NamedTuple):
    """A tuple or list of so many members."""

    members: tuple[Any, ...]


class Table(NamedTuple):
    """A dict with keys that are text."""

    members: tuple[tuple[str, Any], ...]


class Record(NamedTuple):
    """An object of a class that keeps its arguments as its fields, in order."""

    members: tuple[tuple[str, Any], ...]


class Many(NamedTuple):
    """Any number of like members."""

    member: Any


Known: TypeAlias = "Array | Number | Items | Table | Record | Many | None"


class Cut(NamedTuple):
    """A slice in an index."""

    lower: int | None
    upper: int | None
    step: int | None
    whole: bool
    known: bool  # each bound that is given is a number in view


Index: TypeAlias = "Known | Cut | str"  # "new" for a new axis, "rest" for an ellipsis


def size(array: Array) -> int | None:
    """How many elements it has."""
    return None if None in array.shape else math.prod(array.shape)  # type: ignore[arg-type]  # no None in it


def sizes(known: Known) -> frozenset[int] | None:
    """How many elements each array, or number, among the members of a value has; None where one is not known."""
    if isinstance(known, (Array, Number)):
        elements = size(known) if isinstance(known, Array) else 1
        return None if elements is None else frozenset({elements})
    members = members_of(known)
    if members is None:
        return None
    found: set[int] = set()
    for one in members:
        below = sizes(one)
        if below is None:
            return None
        found |= below
    return frozenset(found)


def members_of(known: Known) -> list[Known] | None:
    """The members of a tree; None of what is none, or of so many."""
    if isinstance(known, (Table, Record)):
        return [m for _, m in known.members]
    return list(known.members) if isinstance(known, Items) else None


def elements(known: Known) -> int | None:
    """How many elements all arrays and numbers among the members of a value have together; None where one is not
    known."""
    if isinstance(known, Array):
        return size(known)
    if isinstance(known, Number):
        return 1
    members = members_of(known)
    if members is None:
        return None
    below = [elements(m) for m in members]
    return None if None in below else sum(n for n in below if n is not None)


def member(known: Known, position: int | None) -> Known:
    known = Items(tuple(m for _, m in known.members)) if isinstance(known, Record) else known
    if (
        isinstance(known, Items)
        and position is not None
        and -len(known.members) <= position < len(known.members)
    ):
        found: Known = known.members[position]
        return found
    return each(known) if isinstance(known, (Array, Many)) else None


def each(known: Known) -> Known:
    """Whichever member."""
    if isinstance(known, Array):
        return Array(known.shape[1:]) if known.shape else None
    if isinstance(known, Many):
        found: Known = known.member
        return found
    if isinstance(known, Items) and known.members:
        first: Known = known.members[0]
        if all(isinstance(m, Number) for m in known.members):
            return first if all(m == first for m in known.members) else Number(None)
        return first if all(m == first for m in known.members) else None
    return None


def dimensions(known: Known) -> tuple[int | None, ...] | None:
    """A shape that is given as a number or as some."""
    if isinstance(known, Number):
        return (known.value,)
    if isinstance(known, Items) and all(isinstance(m, Number) for m in known.members):
        return tuple(m.value for m in known.members)
    return None


def made_with(known: Known) -> Known:
    shape = dimensions(known)
    return Array(shape) if shape is not None and not any(d is not None and d < 0 for d in shape) else None


def broadcast(sides: Sequence[Known]) -> Known:
    shapes: list[tuple[int | None, ...]] = []
    for side in sides:
        if not isinstance(side, (Array, Number)):
            return None
        shapes.append(side.shape if isinstance(side, Array) else ())
    if all(isinstance(side, Number) for side in sides):
        return Number(None)
    rank = max(map(len, shapes))
    result: list[int | None] = []
    for sizes_at in zip(*[(1,) * (rank - len(s)) + s for s in shapes], strict=True):
        wide = {d for d in sizes_at if d is not None and d != 1}
        if len(wide) > 1:
            return None
        result.append(wide.pop() if wide else None if None in sizes_at else 1)
    return Array(tuple(result))


def negated(op: ast.unaryop, value: Known) -> Known:
    if isinstance(value, Number):
        minus = isinstance(op, ast.USub) and value.value is not None
        return Number(-value.value if minus else None)  # type: ignore[operator]  # no None where minus
    return value if isinstance(value, Array) else None


def combined(op: ast.operator, left: Known, right: Known) -> Known:
    if isinstance(op, ast.MatMult):
        return product(left, right)
    if isinstance(left, Number) and isinstance(right, Number):
        return Number(_arithmetic(op, left.value, right.value))
    if isinstance(left, Items) and isinstance(right, Items) and isinstance(op, ast.Add):
        return Items(left.members + right.members)
    return broadcast((left, right))


def _arithmetic(op: ast.operator, a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return None
    if isinstance(op, ast.Add):
        return a + b
    if isinstance(op, ast.Sub):
        return a - b
    if isinstance(op, ast.Mult):
        return a * b
    if isinstance(op, (ast.LShift, ast.RShift)) and 0 <= b < 64:
        return a << b if isinstance(op, ast.LShift) else a >> b
    if isinstance(op, (ast.FloorDiv, ast.Mod)) and b:
        return a // b if isinstance(op, ast.FloorDiv) else a % b
    return a**b if isinstance(op, ast.Pow) and 0 <= b < 32 and abs(a) < 1 << 16 else None


def product(a: Known, b: Known) -> Known:
    """`a @ b`."""
    if not isinstance(a, Array) or not isinstance(b, Array) or not a.shape or not b.shape:
        return None
    left, right = a.shape[:-1], (*b.shape[:-2], *b.shape[-1:]) if len(b.shape) > 1 else ()
    if len(a.shape) > 2 and len(b.shape) > 2:
        outer = broadcast((Array(a.shape[:-2]), Array(b.shape[:-2])))
        return Array((*outer.shape, a.shape[-2], b.shape[-1])) if isinstance(outer, Array) else None
    if len(b.shape) > 2:
        return Array((*b.shape[:-2], *a.shape[:-1], b.shape[-1]))
    return Array((*left, *right))


def attribute(owner: Known, name: str) -> Known:
    if isinstance(owner, Record):
        return dict(owner.members).get(name)
    if not isinstance(owner, Array):
        return None
    if name == "shape":
        return Items(tuple(map(Number, owner.shape)))
    if name == "T":
        return Array(owner.shape[::-1])
    if name == "mT" and len(owner.shape) > 1:
        return Array((*owner.shape[:-2], owner.shape[-1], owner.shape[-2]))
    if name == "size":
        return Number(size(owner))
    return Number(len(owner.shape)) if name == "ndim" else owner if name in ("real", "imag") else None


def indexed(base: Array, taken: Sequence[Index]) -> Known:
    """`x[a, None, 2:]`; one index that is an array may be among the slices."""
    used = sum(1 for t in taken if t not in ("new", "rest"))
    if used > len(base.shape) or sum(t == "rest" for t in taken) > 1:
        return None
    left = len(base.shape) - used
    shape, at = list[int | None](), 0
    arrays = sum(isinstance(t, Array) for t in taken)
    if arrays > 1 or (arrays and any(isinstance(t, Number) for t in taken)):
        return None
    for one in [*taken, *(["rest"] if "rest" not in taken else [])]:
        if one == "new":
            shape.append(1)
        elif one == "rest":
            shape += base.shape[at : at + left]
            at += left
        elif isinstance(one, Cut):
            shape.append(_cut(base.shape[at], one))
            at += 1
        elif isinstance(one, Number):
            at += 1
        elif isinstance(one, Array):
            return None  # a mask or indices: which, its dtype would tell
        else:
            return None
    return Array(tuple(shape))


def _cut(length: int | None, cut: Cut) -> int | None:
    if cut.whole or length is None or not cut.known:
        return length if cut.whole else None
    return len(range(length)[slice(cut.lower, cut.upper, cut.step)])
