"""How many letters a text has: one number whatever it says, or another for each.

A text that is EVEN is another one each time and of one length, `size` letters where they are counted. One that
varies and is not EVEN has a length of its own."""

from __future__ import annotations

import ast
import re

from jaxlint.flow.domain.kinds import CONCRETE, CONSTANT, UNKNOWN
from jaxlint.flow.domain.origin_words import RANDOM_TEXT
from jaxlint.flow.domain.tags import EVEN, RAGGED, SHAPED, TEXT
from jaxlint.flow.domain.values import PER_CALL, PER_ITERATION, Origin, Value
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.shapes.made_sizes import size
from jaxlint.flow.statements.iteration import element_of, picked

FILLING = frozenset({"center", "ljust", "rjust", "zfill"})  # up to one length
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
