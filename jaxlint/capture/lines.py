"""The events of a line, one after the other, in bounded memory: a capture may hold millions."""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Generator, Iterator
from typing import NamedTuple

from jaxlint.capture import wire
from jaxlint.capture.xspace import Plane

_BLOCK = 1 << 20
_LATEST = 1 << 60  # picoseconds: 13 days
_RELEASED_FROM = 64 << 20  # bytes of a file from which pages that were read are given back

Event = tuple[int, int, int, int, int]
"""Start and duration in picoseconds, id of its metadata, and the span of its stats within the data."""


class Line(NamedTuple):
    """A thread of the host. Its events lie in data[first:end]."""

    name: str
    start: int  # picoseconds
    first: int
    end: int


def lines(data: wire.Data, plane: Plane) -> Iterator[Line]:
    """The lines of a plane. Times count from the first line's: nanoseconds since 1970 would not fit into 64 bits
    as picoseconds. Raises wire.Damaged.
    """
    zero: int | None = None
    for number, kind, start, end in wire.fields(data, plane.start, plane.end):
        if number == 3 and kind == wire.BYTES:
            line = _line(data, start, end)
            zero = line.start if zero is None else zero
            yield line._replace(start=_bounded(line.start - zero))


def _line(data: wire.Data, start: int, end: int) -> Line:
    """Name and time stand before the events, as protobuf writes fields in the order of their numbers."""
    name, time, first = "", 0, start
    for number, kind, value, stop in wire.fields(data, start, end):
        if number == 4:
            break
        if number == 2 and kind == wire.BYTES:
            name = wire.text(data, value, stop)
        elif number == 3 and kind == wire.VARINT:
            time = wire.signed(value)
        first = stop if kind == wire.BYTES else first
    return Line(name, time * 1000, start, end)


def events(data: wire.Data, line: Line, start: int = 0, end: int = 0) -> Iterator[Event]:
    """The events in the order of the file, or those in data[start:end] only. Raises wire.Damaged."""
    at, end = start or line.first, end or line.end
    size = _BLOCK
    while at < end:
        block = bytes(data[at : min(at + size, end)])
        done = yield from _of_block(block, at, line.start)
        if done:
            _release(data, at, done)
            at, size = at + done, _BLOCK
        elif at + size >= end:
            raise wire.Damaged(f"cut off or damaged at byte {at}: an event is longer than its line")
        else:
            size *= 4  # an event that is larger than a block


def sorted_events(data: wire.Data, line: Line) -> Iterator[Event]:
    """All events by time, enclosing ones first: for a line that was not written in that order."""
    columns = tuple(array("q") for _ in range(5))
    for event in events(data, line):
        for column, value in zip(columns, event, strict=True):
            column.append(value)
    starts, durations = columns[0], columns[1]
    for index in sorted(range(len(starts)), key=lambda i: (starts[i], -durations[i])):
        yield (
            columns[0][index],
            columns[1][index],
            columns[2][index],
            columns[3][index],
            columns[4][index],
        )


def _of_block(block: bytes, base: int, time: int) -> Generator[Event, None, int]:
    """The events that lie in the block as a whole. Returns where the first one begins that does not."""
    at, size, whole = 0, len(block), 0
    try:
        while at < size:
            key = block[at]
            at += 1
            if key >= 0x80:
                key, at = wire.varint(block, at - 1)
            kind = key & 7
            if kind == wire.BYTES:
                length = block[at]
                at += 1
                if length >= 0x80:
                    length, at = wire.varint(block, at - 1)
                stop = at + length
                if stop > size:
                    break
                if key == 0x22:
                    yield _event(block, at, stop, base, time)
                at = stop
            elif kind == wire.VARINT:
                _, at = wire.varint(block, at)
            elif kind == wire.FIXED64 or kind == wire.FIXED32:
                at += 8 if kind == wire.FIXED64 else 4
            else:
                raise wire.Damaged(f"damaged at byte {base + at}: no field has the wire type {kind}")
            whole = at
    except IndexError:  # a field that goes on in the next block
        pass
    return min(whole, size)


def _event(block: bytes, at: int, stop: int, base: int, time: int) -> Event:
    """An XEvent. Its first fields are numbers, in order; what else there is goes the slow way."""
    identity = offset = duration = 0
    while at < stop:
        key = block[at]
        if key == 0x22:  # the first stat
            break
        if key != 0x08 and key != 0x10 and key != 0x18:
            return _unusual_event(block, at, stop, base, time, (identity, offset, duration))
        value = block[at + 1]
        at += 2
        if value >= 0x80:
            value, at = wire.varint(block, at - 1)
        if key == 0x08:
            identity = value
        elif key == 0x10:
            offset = value
        else:
            duration = value
    if at > stop:
        raise wire.Damaged(f"damaged at byte {base + stop}: an event ends inside a field")
    start = time + offset if offset < _LATEST else _bounded(time + wire.signed(offset))
    return start, _duration(duration), wire.signed(identity), base + at, base + stop


def _unusual_event(
    block: bytes, at: int, stop: int, base: int, time: int, known: tuple[int, int, int]
) -> Event:
    values = dict(zip((1, 2, 3), known, strict=True))
    values.update(wire.numbers(block, at, stop))
    start = _bounded(time + wire.signed(values[2]))
    return start, _duration(values[3]), wire.signed(values[1]), base + at, base + stop


def _duration(value: int) -> int:
    return value if value < _LATEST else max(_bounded(wire.signed(value)), 0)


def _bounded(time: int) -> int:
    """A time that is damaged must still fit where times are kept."""
    return min(max(time, -_LATEST), _LATEST)


def _release(data: wire.Data, start: int, size: int) -> None:
    """Give back the pages of a large file that were read: they are clean, and come again when needed."""
    if isinstance(data, mmap.mmap) and len(data) >= _RELEASED_FROM and hasattr(mmap, "MADV_DONTNEED"):
        page = start - start % mmap.PAGESIZE
        data.madvise(mmap.MADV_DONTNEED, page, start + size - page)
