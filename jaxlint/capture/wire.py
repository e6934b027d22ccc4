"""The protobuf wire format, read lazily: a message is a stretch of bytes, and what is not asked for is skipped.

A reader of our own, since a linter must work beside whichever versions of jax and protobuf a project has. Messages
that are not looked into (device planes, literals, backend configurations) cost one addition each. Nothing that a
file says of itself is trusted: lengths are checked against the message that they stand in.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator

Data = bytes | mmap.mmap
Field = tuple[int, int, int, int]
"""Number, wire type, then the value and 0 for a varint, or the start and end of what the field holds."""

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class Damaged(Exception):
    """The bytes are no message. The text says what is wrong, and at which byte of the file."""


def varint(data: Data, at: int) -> tuple[int, int]:
    """An unsigned number and where it ends. Raises Damaged or IndexError."""
    byte = data[at]
    at += 1
    if byte < 0x80:
        return byte, at
    value, shift = byte & 0x7F, 7
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise Damaged(f"damaged at byte {at}: a number without an end")


def signed(value: int) -> int:
    """An int64 from the unsigned number that stands for it."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    return value - (1 << 64) if value >> 63 else value


def fields(data: Data, start: int, end: int) -> Iterator[Field]:
    """The fields of the message in data[start:end], in the order of the file. Raises Damaged."""
    at = start
    try:
        while at < end:
            key = data[at]
            at += 1
            if key >= 0x80:
                key, at = varint(data, at - 1)
            kind = key & 7
            if kind == BYTES:
                size = data[at]
                at += 1
                if size >= 0x80:
                    size, at = varint(data, at - 1)
                if at + size > end:
                    raise Damaged(
                        f"cut off or damaged at byte {at}: {size} bytes are announced, {end - at} are left"
                    )
                yield key >> 3, BYTES, at, at + size
                at += size
            elif kind == VARINT:
                value = data[at]
                at += 1
                if value >= 0x80:
                    value, at = varint(data, at - 1)
                yield key >> 3, VARINT, value, 0
            elif kind == FIXED64 or kind == FIXED32:
                size = 8 if kind == FIXED64 else 4
                yield key >> 3, kind, at, at + size
                at += size
            else:
                raise Damaged(f"damaged at byte {at}: no field has the wire type {kind}")
            if not key >> 3:
                raise Damaged(f"damaged at byte {at}: no field has the number 0")
    except IndexError:
        at = end + 1
    if at != end and start < end:
        raise Damaged(f"cut off or damaged at byte {end}: the message ends inside a field")


def text(data: Data, start: int, end: int) -> str:
    """A string field. Bytes that are not UTF-8 are replaced."""
    return bytes(data[start:end]).decode("utf-8", "replace")


def double(data: Data, start: int) -> float:
    """A double field. Raises Damaged."""
    try:
        return float(struct.unpack("<d", data[start : start + 8])[0])
    except struct.error:
        raise Damaged(f"cut off at byte {start}") from None


def integers(data: Data, field: Field) -> Iterator[int]:
    """A repeated int64 field, packed or not. Raises Damaged."""
    _, kind, value, end = field
    if kind == VARINT:
        yield signed(value)
        return
    if kind != BYTES:
        return
    at = value
    try:
        while at < end:
            number, at = varint(data, at)
            yield signed(number)
    except IndexError:
        at = end + 1
    if at > end:
        raise Damaged(f"cut off or damaged at byte {end}: a list ends inside a number")


def numbers(data: Data, start: int, end: int) -> dict[int, int]:
    """The varint fields of a small message by their number; of a repeated one the last, as protobuf has it."""
    return {number: value for number, kind, value, _ in fields(data, start, end) if kind == VARINT}
