"""The events of a line, one after the other, in bounded memory: a capture may hold millions."""

from __future__ import annotations

import mmap
from array import array
from bisect import bisect_left
from collections.abc import Container, Generator, Iterator
from heapq import merge
from typing import NamedTuple

from jaxlint.capture import wire
from jaxlint.capture.xspace import Plane

_BLOCK = 1 << 20
_EVENT, _IDENTITY, _OFFSET, _DURATION, _STATS = (
    0x22,
    0x08,
    0x10,
    0x18,
    0x22,
)  # keys: field number and wire type
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


def sorted_events(data: wire.Data, line: Line, wanted: Container[int]) -> Iterator[Event]:
    """The events of some kinds (ids of metadata), and those that enclose one, by time, enclosing ones first: for a
    line that was not written in that order. Raises wire.Damaged.

    Most events of a capture are neither, and they are looked at and let go.
    """
    instants = array("q", (start for start, _, identity, _, _ in events(data, line) if identity in wanted))
    instants = array("q", sorted(instants))
    runs: list[_Run] = []
    part: list[Event] = []
    for event in events(data, line):
        start, duration, identity, _, _ = event
        if identity not in wanted:
            index = bisect_left(instants, start)
            if index == len(instants) or instants[index] > start + duration:
                continue
        part.append(event)
        if len(part) >= _RUN:
            runs.append(_run(part))
            part = []
    return merge(*map(_of_run, [*runs, _run(part)]), key=_order)


def count(data: wire.Data, line: Line) -> int:
    """How many events a line has. Raises wire.Damaged."""
    return sum(1 for _ in events(data, line))


_RUN = (
    1 << 16
)  # events that are sorted at once: as objects they take some hundred bytes each, as numbers forty
_Run = tuple["array[int]", ...]


def _order(event: Event) -> tuple[int, int]:
    return event[0], -event[1]


def _run(part: list[Event]) -> _Run:
    part.sort(key=_order)
    return tuple(array("q", column) for column in zip(*part, strict=True))


def _of_run(run: _Run) -> Iterator[Event]:
    return zip(*run, strict=True)


def _of_block(block: bytes, base: int, time: int) -> Generator[Event, None, int]:
    """The events that lie in the block as a whole. Returns where the first field begins that does not.

    Written out in one piece: this is where a capture of a million events spends its time.
    """
    at, size, whole = 0, len(block), 0
    try:
        while at < size:
            key = block[at]
            if key != _EVENT:
                at = _past_field(block, at, base)
                if at > size:
                    break
                whole = at
                continue
            length = block[at + 1]
            at += 2
            if length >= 0x80:
                length, at = wire.varint(block, at - 1)
            stop = at + length
            if stop > size:
                break
            identity = offset = duration = 0
            while at < stop:
                key = block[at]
                if key == _STATS:
                    break
                if key != _IDENTITY and key != _OFFSET and key != _DURATION:
                    break
                value = block[at + 1]
                at += 2
                if value >= 0x80:
                    value, at = wire.varint(block, at - 1)
                if key == _IDENTITY:
                    identity = value
                elif key == _OFFSET:
                    offset = value
                else:
                    duration = value
            if at > stop:
                raise wire.Damaged(f"damaged at byte {base + stop}: an event ends inside a field")
            if (at < stop and key != _STATS) or max(identity, offset, duration) > _LATEST:
                yield _unusual_event(block, at, stop, base, time, (identity, offset, duration))
            else:
                yield time + offset, duration, identity, base + at, base + stop
            at = whole = stop
    except IndexError:  # a field that goes on in the next block
        pass
    return whole


def _past_field(block: bytes, at: int, base: int) -> int:
    """Where a field ends that is no event. Raises wire.Damaged or IndexError."""
    key, at = wire.varint(block, at)
    kind = key & 7
    if kind == wire.BYTES:
        length, at = wire.varint(block, at)
        return at + length
    if kind == wire.VARINT:
        return wire.varint(block, at)[1]
    if kind in (wire.FIXED64, wire.FIXED32):
        return at + (8 if kind == wire.FIXED64 else 4)
    raise wire.Damaged(f"damaged at byte {base + at}: no field has the wire type {kind}")


def _unusual_event(
    block: bytes, at: int, stop: int, base: int, time: int, known: tuple[int, int, int]
) -> Event:
    """An XEvent that has other fields, or numbers that no event has."""
    values = dict(zip((1, 2, 3), known, strict=True))
    values.update(wire.numbers(block, at, stop))
    start = _bounded(time + wire.signed(values[2]))
    duration = max(_bounded(wire.signed(values[3])), 0)
    return start, duration, wire.signed(values[1]), base + at, base + stop


def _bounded(time: int) -> int:
    """A time that is damaged must still fit where times are kept."""
    return min(max(time, -_LATEST), _LATEST)


def _release(data: wire.Data, start: int, size: int) -> None:
    """Give back the pages of a large file that were read: they are clean, and come again when needed."""
    if isinstance(data, mmap.mmap) and len(data) >= _RELEASED_FROM and hasattr(mmap, "MADV_DONTNEED"):
        page = start - start % mmap.PAGESIZE
        data.madvise(mmap.MADV_DONTNEED, page, start + size - page)
