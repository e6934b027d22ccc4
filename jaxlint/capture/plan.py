"""The memory plan of one compiled module: what a step needs, and what it is made of at the peak.

A jitted step gets its scratch memory as one planned block, so its memory is XLA's buffer assignment. Sizes are in
bytes and about device memory (memory space 0). They equal `compiled.memory_analysis()`: arguments, outputs
(non-aliased plus donated), aliases (donated) and temp.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

from jaxlint.capture import heap, liveness, roles, stacks
from jaxlint.capture.assignment import DEVICE_MEMORY, Assignment, Definition
from jaxlint.capture.frames import Frame, user_frames
from jaxlint.capture.heap import Live
from jaxlint.capture.program import Instruction, Program
from jaxlint.capture.roles import Role
from jaxlint.capture.shape import Shape


class Totals(NamedTuple):
    """Sums over the allocations, in bytes."""

    parameters: int = 0
    parameter_count: int = 0
    donated: int = 0
    donated_count: int = 0
    outputs: int = 0  # without those that take a donated parameter's buffer
    temp: int = 0
    constants: int = 0
    thread_local: int = 0
    other_spaces: tuple[tuple[int, int], ...] = ()  # memory space, bytes

    @property
    def total(self) -> int:
        """All that has to be in device memory for one execution."""
        return self.parameters + self.outputs + self.temp + self.constants

    @property
    def claims(self) -> int:
        """What an execution asks for beyond what is there already: its outputs and its temp block."""
        return self.outputs + self.temp


class PeakBuffer(NamedTuple):
    """A buffer that lives at the peak of the temporary heap."""

    size: int  # bytes
    shape: Shape
    role: Role
    how: str  # what the role rests on
    instruction: str
    opcode: str
    op_name: str
    frames: tuple[Frame, ...]  # of the program itself, innermost first
    stacked: str = ""  # the name stack of the value that a scan stacks in it
    loop: str = ""  # the while that carries it


class Plan(NamedTuple):
    module: str
    totals: Totals
    heap_peak: int | None  # bytes, None where it cannot be told
    traced: bool  # by the compiler's own trace; else it is worked out from the schedule
    peak_event: tuple[int, int]  # which one, of how many
    peak_instruction: str
    buffers: tuple[PeakBuffer, ...]  # largest first
    rematerialized: int  # instructions that XLA itself computes twice to save memory
    request_sizes: tuple[int, ...]  # bytes that an execution asks the allocator for, in order

    def grouped(self) -> list[tuple[PeakBuffer, int]]:
        """Buffers that differ in nothing a person would see, with how many they are, most bytes first."""
        counts: Counter[PeakBuffer] = Counter()
        for buffer in self.buffers:
            counts[buffer._replace(instruction="", opcode="", how="", frames=buffer.frames[:1])] += 1
        return sorted(counts.items(), key=lambda item: -item[0].size * item[1])

    def by_role(self) -> dict[Role, int]:
        """Bytes at the peak, largest first."""
        sums: Counter[Role] = Counter()
        for buffer in self.buffers:
            sums[buffer.role] += buffer.size
        return dict(sums.most_common())


def totals(assignment: Assignment) -> Totals:
    """What the allocations add up to."""
    elsewhere: Counter[int] = Counter()
    sums: defaultdict[str, int] = defaultdict(int)
    for block in assignment.allocations:
        if block.space != DEVICE_MEMORY:
            elsewhere[block.space] += block.size
            continue
        if block.parameter:
            sums["parameters"] += block.size
            sums["parameter_count"] += 1
        if block.donated:
            sums["donated"] += block.size
            sums["donated_count"] += 1
        if block.own_output:
            sums["outputs"] += block.size
        if block.constant:
            sums["constants"] += block.size
        if block.thread_local:
            sums["thread_local"] += block.size
        if block.temporary:
            sums["temp"] += block.size
    return Totals(**sums, other_spaces=tuple(sorted(elsewhere.items())))


def request_sizes(assignment: Assignment) -> tuple[int, ...]:
    """What one execution allocates, in bytes: each output of its own, and each temporary block."""
    return tuple(
        block.size
        for block in assignment.allocations
        if block.space == DEVICE_MEMORY and block.size and (block.own_output or block.temporary)
    )


def make(name: str, assignment: Assignment, program: Program) -> Plan:
    """The plan of a module."""
    peak = heap.peak(assignment)
    traced = peak is not None
    if peak is None and (trace := liveness.trace(assignment, program)):
        peak = heap.replay(trace, assignment)
    reader = _BufferReader(assignment, program)
    buffers = [reader.read(live) for live in peak.live] if peak is not None else []
    return Plan(
        module=name or program.name,
        totals=totals(assignment),
        heap_peak=peak.size if peak is not None else None,
        traced=traced,
        peak_event=(peak.position, peak.events) if peak is not None else (0, 0),
        peak_instruction=peak.instruction if peak is not None else "",
        buffers=tuple(buffers),
        rematerialized=sum(".remat" in i.name for i in program.instructions.values()),
        request_sizes=request_sizes(assignment),
    )


class _BufferReader:
    """Says of each buffer at the peak what it is."""

    def __init__(self, assignment: Assignment, program: Program) -> None:
        self._assignment = assignment
        self._program = program

    def read(self, live: Live) -> PeakBuffer:
        definition = roles.defined_by(live.shown, self._assignment)
        aliases = [
            alias
            for buffer in (live.shown, live.buffer)
            for alias in self._assignment.aliases.get(buffer, ())
        ]
        origin = roles.origin(definition, aliases, self._program)
        if origin is None:
            name = definition.name or f"buffer {live.shown}"
            return PeakBuffer(live.size, Shape("?"), Role.OTHER, "unknown instruction", name, "", "", ())
        own = self._program.find(definition.instruction, definition.name) or origin.instruction
        kin = [own, *self._found(aliases)]
        if "/" not in own.op_name:
            kin += filter(None, [roles.copied(own, self._program)])
        stacked = stacks.stacked_value(kin, self._program)
        explained = stacked or origin.instruction
        return PeakBuffer(
            size=live.size,
            shape=own.shape.at(definition.shape_index),
            role=origin.role,
            how=origin.how,
            instruction=own.name + (str(list(definition.shape_index)) if definition.shape_index else ""),
            opcode=own.opcode,
            op_name=origin.instruction.op_name or own.op_name,
            frames=user_frames(explained.frames or own.frames),
            stacked=stacked.op_name if stacked is not None else "",
            loop=next((i.name for i in kin if i.opcode == "while"), ""),
        )

    def _found(self, definitions: list[Definition]) -> list[Instruction]:
        found = (self._program.find(d.instruction, d.name) for d in definitions)
        return [instruction for instruction in found if instruction is not None]
