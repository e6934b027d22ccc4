"""XLA's buffer assignment: which buffers there are, where each lies, and in which order they come and go."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from jaxlint.capture import wire

ALLOCATE, FREE, SHARE = 0, 1, 2
DEVICE_MEMORY = 0  # the memory space ("color") of HBM


class Definition(NamedTuple):
    """Where a buffer is defined: a part of an instruction's result."""

    instruction: int | None
    name: str  # older XLA names the instruction; newer gives its id
    shape_index: tuple[int, ...]


class LogicalBuffer(NamedTuple):
    size: int  # bytes
    definition: Definition


class Allocation(NamedTuple):
    """A block that the program gets as a whole. Sizes in bytes."""

    number: int
    size: int
    space: int
    thread_local: bool
    parameter: bool
    parameter_number: int
    parameter_index: tuple[int, ...]
    live_out: bool
    constant: bool
    aliased: bool  # a parameter whose buffer an output takes
    assigned: tuple[int, ...]  # logical buffers

    @property
    def temporary(self) -> bool:
        return not (self.thread_local or self.parameter or self.live_out or self.constant)

    @property
    def donated(self) -> bool:
        return self.parameter and (self.aliased or self.live_out)

    @property
    def own_output(self) -> bool:
        """An output that needs memory of its own."""
        return self.live_out and not self.parameter


class HeapEvent(NamedTuple):
    kind: int  # ALLOCATE, FREE or SHARE
    buffer: int
    shared_with: int
    instruction: str


class Assignment:
    """BufferAssignmentProto. `traces` are in the order of the file; their own allocation index is not reliable."""

    def __init__(self) -> None:
        self.buffers: dict[int, LogicalBuffer] = {}
        self.aliases: dict[int, list[Definition]] = defaultdict(list)
        self.allocations: list[Allocation] = []
        self.offsets: dict[int, int] = {}  # of a logical buffer in its allocation, bytes
        self.traces: list[list[HeapEvent]] = []

    def size(self, buffer: int) -> int:
        """Of a logical buffer, 0 where it is unknown."""
        found = self.buffers.get(buffer)
        return found.size if found is not None else 0


def read(data: wire.Data, start: int, end: int) -> Assignment:
    """The message in data[start:end]. Raises wire.Damaged."""
    assignment = Assignment()
    for number, kind, value, stop in wire.fields(data, start, end):
        if kind != wire.BYTES:
            continue
        if number == 1:
            identity, buffer = _buffer(data, value, stop)
            assignment.buffers[identity] = buffer
        elif number == 2:
            _alias(assignment, data, value, stop)
        elif number == 3:
            assignment.allocations.append(_allocation(assignment, data, value, stop))
        elif number == 4:
            assignment.traces.append(_trace(data, value, stop))
    return assignment


def _buffer(data: wire.Data, start: int, end: int) -> tuple[int, LogicalBuffer]:
    identity = size = 0
    definition = Definition(None, "", ())
    for number, kind, value, stop in wire.fields(data, start, end):
        if number == 1 and kind == wire.VARINT:
            identity = value
        elif number == 2 and kind == wire.VARINT:
            size = max(wire.signed(value), 0)
        elif number == 3 and kind == wire.BYTES:
            definition = _definition(data, value, stop)
    return identity, LogicalBuffer(size, definition)


def _definition(data: wire.Data, start: int, end: int) -> Definition:
    instruction: int | None = None
    name = ""
    index: list[int] = []
    for field in wire.fields(data, start, end):
        number, kind, value, stop = field
        if number == 2 and kind == wire.BYTES:
            name = wire.text(data, value, stop)
        elif number == 3:
            index.extend(wire.integers(data, field))
        elif number == 4 and kind == wire.VARINT:
            instruction = wire.signed(value)
    return Definition(instruction, name, tuple(index))


def _alias(assignment: Assignment, data: wire.Data, start: int, end: int) -> None:
    source = 0
    for number, kind, value, stop in wire.fields(data, start, end):
        if number == 1 and kind == wire.VARINT:
            source = value
        elif number == 2 and kind == wire.BYTES:
            assignment.aliases[source].append(_definition(data, value, stop))


def _allocation(assignment: Assignment, data: wire.Data, start: int, end: int) -> Allocation:
    values: dict[int, int] = defaultdict(int)
    assigned: list[int] = []
    index: list[int] = []
    for field in wire.fields(data, start, end):
        number, kind, value, stop = field
        if number == 9 and kind == wire.BYTES:
            entry = wire.numbers(data, value, stop)
            assigned.append(entry.get(1, 0))
            assignment.offsets[assigned[-1]] = entry.get(2, 0)
        elif number == 10:
            index.extend(wire.integers(data, field))
        elif kind == wire.VARINT:
            values[number] = value
    return Allocation(
        number=values[1],
        size=max(wire.signed(values[2]), 0),
        space=values[8],
        thread_local=bool(values[3]),
        parameter=bool(values[5]),
        parameter_number=values[6],
        parameter_index=tuple(index),
        live_out=bool(values[7]),
        constant=bool(values[12]),
        aliased=bool(values[13]),
        assigned=tuple(assigned),
    )


def _trace(data: wire.Data, start: int, end: int) -> list[HeapEvent]:
    events: list[HeapEvent] = []
    for number, kind, value, stop in wire.fields(data, start, end):
        if number != 1 or kind != wire.BYTES:
            continue
        values: dict[int, int] = defaultdict(int)
        instruction = ""
        for sub, form, at, upto in wire.fields(data, value, stop):
            if form == wire.VARINT:
                values[sub] = at
            elif sub == 4 and form == wire.BYTES:
                instruction = wire.text(data, at, upto)
        events.append(HeapEvent(values[1], values[2], values[5], instruction))
    return events
