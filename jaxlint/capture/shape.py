"""XLA shapes as the memory plan needs them: element type, dimensions, memory space."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from jaxlint.capture import wire

_DEEPEST = 64  # tuples in tuples; XLA itself makes no more than a few

# xla_data.proto, PrimitiveType.
ELEMENTS = {
    1: "pred", 2: "s8", 3: "s16", 4: "s32", 5: "s64", 6: "u8", 7: "u16", 8: "u32", 9: "u64", 10: "f16",
    11: "f32", 12: "f64", 13: "tuple", 14: "opaque", 15: "c64", 16: "bf16", 17: "token", 18: "c128",
    19: "f8e5m2", 20: "f8e4m3fn", 21: "s4", 22: "u4", 23: "f8e4m3b11fnuz", 24: "f8e5m2fnuz", 25: "f8e4m3fnuz",
    26: "s2", 27: "u2", 28: "f8e4m3", 29: "f8e3m4", 30: "s1", 31: "u1", 32: "f4e2m1fn", 33: "f8e8m0fnu",
    34: "buffer",
}  # fmt: skip


class Shape(NamedTuple):
    """An array, or a tuple of shapes. Memory space 0 is the device's own memory, 5 is the host."""

    element: str
    dimensions: tuple[int, ...] = ()
    parts: tuple[Shape, ...] = ()
    space: int = 0

    def at(self, index: Sequence[int]) -> Shape:
        """The shape at an index into nested tuples; the innermost that exists."""
        shape = self
        for step in index:
            if not 0 <= step < len(shape.parts):
                break
            shape = shape.parts[step]
        return shape

    @property
    def elements(self) -> int:
        """How many numbers an array has."""
        return math.prod(self.dimensions)

    @property
    def size(self) -> int:
        """Bytes of an array without padding; 0 for what has no size of its own."""
        match = re.match(r"(?:pred|[a-z]+?(\d+))", self.element)
        if match is None or self.parts:
            return 0
        return -(-self.elements * (8 if match[1] is None else int(match[1])) // 8)

    def leaves(self) -> list[tuple[tuple[int, ...], Shape]]:
        """The arrays in it, each with its index."""
        if self.element != "tuple" and not self.parts:
            return [((), self)]
        return [
            ((step, *index), leaf) for step, part in enumerate(self.parts) for index, leaf in part.leaves()
        ]

    def __str__(self) -> str:
        if self.parts or self.element == "tuple":
            shown = ", ".join(map(str, self.parts[:4]))
            return f"({shown}{', …' if len(self.parts) > 4 else ''})"
        space = f"S({self.space})" if self.space else ""
        return f"{self.element}[{','.join(map(str, self.dimensions))}]{space}"


def read(data: wire.Data, start: int, end: int, depth: int = 0) -> Shape:
    """A ShapeProto. Raises wire.Damaged."""
    if depth > _DEEPEST:
        raise wire.Damaged(f"damaged at byte {start}: a shape of more than {_DEEPEST} tuples in one another")
    element, space = 0, 0
    dimensions: list[int] = []
    parts: list[Shape] = []
    for field in wire.fields(data, start, end):
        number, kind, value, stop = field
        if number == 2 and kind == wire.VARINT:
            element = value
        elif number == 3:
            dimensions.extend(wire.integers(data, field))
        elif number == 4 and kind == wire.BYTES:
            parts.append(read(data, value, stop, depth + 1))
        elif number == 5 and kind == wire.BYTES:
            space = wire.numbers(data, value, stop).get(8, 0)
    return Shape(ELEMENTS.get(element, f"type{element}"), tuple(dimensions), tuple(parts), space)
