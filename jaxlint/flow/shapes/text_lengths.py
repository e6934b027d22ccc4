"""How many letters a text has: one number whatever it says, or another for each.

A text that is EVEN is another one each time and of one length, `size` letters where they are counted. One that
varies and is not EVEN has a length of its own."""

from __future__ import annotations

import ast
import re

from jaxlint.flow.domain import text
from jaxlint.flow.domain.kinds import CONCRETE, CONSTANT, TREE, UNKNOWN
from jaxlint.flow.domain.origin_words import LENGTH, RANDOM_TEXT
from jaxlint.flow.domain.tags import EVEN, RAGGED, SHAPED, TEXT
from jaxlint.flow.domain.values import PER_CALL, PER_ITERATION, TEXT_VALUE, Origin, Value, collection, tree
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.shapes.made_sizes import size
from jaxlint.flow.statements.iteration import element_of, picked
from jaxlint.index.written_names import dotted_name

_FILLING = frozenset({"center", "ljust", "rjust", "zfill"})  # up to one length
_SAME_NUMBER = frozenset({"casefold", "lower", "swapcase", "title", "upper"})  # of letters
_OTHER_NUMBER = frozenset(
    {"lstrip", "removeprefix", "removesuffix", "replace", "rstrip", "strip", "translate"}
)
_PARTITIONING = frozenset({"partition", "rpartition"})
_NUMBERS = frozenset({"float", "int"})
_FILLED_TO = re.compile(r".?[<>=^]?[-+ ]?#?0?\d+[bcdoxXs]?")  # `08b`, `>12`


def is_text(value: Value) -> bool:
    return bool(value.tags & TEXT) or (value.kind == CONSTANT and isinstance(value.data, str))


def joined(frame: Frame, between: str, given: Value, node: ast.AST) -> Value:
    """`"".join(parts)`: as long as its parts together. Parts of which nothing is known are single letters, where
    nothing stands between them, and words otherwise."""
    member = element_of(given)
    again = PER_ITERATION if frame.loop else PER_CALL
    varies = max(given.varies, again if given.kind in CONCRETE else min(member.varies, again))
    even = member.tags & EVEN or member.kind == CONSTANT if is_text(member) else not between
    origin = Origin(frame.module, node, "text")
    if given.tags & SHAPED or not even:
        return Value(UNKNOWN, varies, TEXT | given.tags & RAGGED, None, None, origin)
    return Value(UNKNOWN, varies, TEXT | EVEN, None, None, origin)


def of_method(frame: Frame, receiver: Value, name: str, call: Call) -> Value | None:
    """What a method makes of a text: another text, or its parts."""
    content = text.spelled(receiver)
    if content is not None:
        return text.of_known(frame, content, name, call)
    tags = receiver.tags
    if name in _SAME_NUMBER:
        return receiver
    if name in _FILLING:
        return Value(UNKNOWN, receiver.varies, tags | EVEN, None, None, receiver.origin)
    if name in _OTHER_NUMBER:
        return receiver.but(tags=tags & ~EVEN) if receiver.size is not None else receiver
    if name in _PARTITIONING:
        return tree([_part(frame, receiver, call)] * 3)
    if name not in text.TAKING_APART:
        return None
    return parted(frame, receiver, call, len(call.positional) > 1 or "maxsplit" in call.keywords)


def _part(frame: Frame, whole: Value, call: Call) -> Value:
    origin = Origin(frame.module, call.node, "text")
    return Value(UNKNOWN, whole.varies, TEXT | whole.tags & EVEN, None, None, origin)


def parted(frame: Frame, whole: Value, call: Call, counted: bool = False) -> Value:
    """The parts of a text, of which there are as many as it says, if that is not given."""
    if not whole.varies:
        return collection(TEXT_VALUE, Origin(frame.module, call.node, "list"))
    ragged = 0 if whole.tags & EVEN or counted else RAGGED
    origin = Origin(frame.module, call.node, LENGTH)
    return Value(TREE, whole.varies, ragged, None, _part(frame, whole, call), origin)


def cut(receiver: Value, index: ast.expr) -> Value | None:
    """`seq[1:]`, `line[:-1]`, `seq[::-1]`: so many letters fewer; None for what has a length of its own."""
    if not isinstance(index, ast.Slice) or not receiver.tags & TEXT:
        return None
    ends = (index.lower, index.upper)
    upper = index.upper
    to_end = upper is None or (isinstance(upper, ast.UnaryOp) and isinstance(upper.op, ast.USub))
    if not to_end or not all(end is None or isinstance(end, (ast.Constant, ast.UnaryOp)) for end in ends):
        return None
    return Value(UNKNOWN, receiver.varies, receiver.tags, None, None, receiver.origin)


def reads_numbers(made: ast.expr, target: ast.expr, words: Value) -> bool:
    """`[float(v) for v in line.split()]`: the columns of a table, of which each row has as many."""
    return (
        isinstance(made, ast.Call)
        and isinstance(made.func, ast.Name)
        and made.func.id in _NUMBERS
        and len(made.args) == 1
        and isinstance(target, ast.Name)
        and dotted_name(made.args[0]) == target.id
        and are_words(words)
    )


def are_words(words: Value) -> bool:
    """The parts of a text, which stand for numbers where an array is made of them."""
    return (
        words.kind == TREE
        and words.element is not None
        and is_text(words.element)
        and bool(words.tags & RAGGED)
    )


def is_filled(spec: ast.expr | None) -> bool:
    """Whether a format says how wide its field is: `{i:08d}`."""
    parts = spec.values if isinstance(spec, ast.JoinedStr) else [spec]
    written = [str(part.value) if isinstance(part, ast.Constant) else "8" for part in parts]
    return _FILLED_TO.fullmatch("".join(written)) is not None


def drawn(frame: Frame, population: Value | None, count: Value | None, call: Call, kind: int) -> Value | None:
    """What is drawn from texts: one of them without a count, else a container of as many as that says."""
    member = element_of(population) if population is not None and not frame.level else None
    if member is None or not is_text(member):
        return None
    one = picked(member, Origin(frame.module, call.node, RANDOM_TEXT))
    if count is None:
        return one.but(varies=PER_ITERATION if frame.loop else PER_CALL)
    many = size(frame, kind, call.node, count)
    if many is None:
        return Value(kind, 0, 0, None, one, Origin(frame.module, call.node, "list"))
    return Value(kind, many.varies, many.tags, None, one, many.origin)
