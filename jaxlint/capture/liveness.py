"""When each buffer of the temporary block is alive, worked out from the schedule.

Some versions of XLA leave no trace of the temporary heap (jaxlib 0.7 to 0.9 on the CPU). What they leave is the
order in which instructions run, where each buffer is defined, and other places that its value is passed through; a
buffer is alive from its definition to the last instruction that uses it in one of those places.
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.capture import heap_trace
from jaxlint.capture.assignment import DEVICE_MEMORY, Assignment, Definition, HeapEvent
from jaxlint.capture.heap_trace import Range
from jaxlint.capture.program import Instruction, Program

# What runs its computations as a part of the schedule, in contrast to a fusion or a reduction.
_SEQUENTIAL = frozenset({"while", "call", "conditional", "async-start"})


def trace(assignment: Assignment, program: Program) -> list[HeapEvent]:
    """The trace of the largest temporary block; empty where nothing is known of it."""
    blocks = [b for b in assignment.allocations if b.temporary and b.space == DEVICE_MEMORY]
    block = max(blocks, key=lambda b: b.size, default=None)
    if block is None:
        return []
    positions = _positions(program)
    steps = {position: program.instructions[i].name for i, position in positions.items()}
    found = (_range(buffer, assignment, program, positions) for buffer in block.assigned)
    return heap_trace.of_ranges([r for r in found if r is not None], steps, assignment.offsets)


def _positions(program: Program) -> dict[int, int]:
    """The step at which each instruction runs. What a loop runs comes before the loop itself, as it ends last."""
    positions: dict[int, int] = {}
    entered: set[int] = set()
    stack: list[tuple[Iterator[Instruction], Instruction | None]] = []

    def enter(computation: int | None, caller: Instruction | None) -> None:
        if computation is not None and computation not in entered:
            entered.add(computation)
            stack.append((iter(program.scheduled(computation)), caller))

    enter(program.entry, None)
    while stack:
        instruction = next(stack[-1][0], None)
        if instruction is None:
            stack.pop()
            continue
        pending = [c for c in instruction.links.called if c not in entered]
        if instruction.opcode in _SEQUENTIAL and pending:
            stack[-1] = _again(instruction, stack[-1][0]), stack[-1][1]
            enter(pending[0], instruction)
            continue
        positions[instruction.identity] = len(positions)
    return positions


def _again(first: Instruction, rest: Iterator[Instruction]) -> Iterator[Instruction]:
    yield first
    yield from rest


def _range(buffer: int, assignment: Assignment, program: Program, positions: dict[int, int]) -> Range | None:
    known = assignment.buffers.get(buffer)
    if known is None:
        return None
    origin = program.find(known.definition.instruction, known.definition.name)
    if origin is None or origin.identity not in positions:
        return None
    start = end = positions[origin.identity]
    for holder, user in _uses([known.definition, *assignment.aliases.get(buffer, ())], program):
        end = max(end, positions.get(holder.identity, end), positions.get(user.identity, end))
    return Range(start, end, buffer)


def _uses(places: list[Definition], program: Program) -> Iterator[tuple[Instruction, Instruction]]:
    """Who holds a value, and what uses it there: also through parts of tuples, and views."""
    pending = [(program.find(place.instruction, place.name), place.shape_index) for place in places]
    seen: set[tuple[int, tuple[int, ...]]] = set()
    while pending:
        holder, index = pending.pop()
        if holder is None or (holder.identity, index) in seen:
            continue
        seen.add((holder.identity, index))
        yield holder, holder
        for user in program.users(holder):
            if user.opcode == "get-tuple-element" and index:
                if user.links.element == index[0]:
                    pending.append((user, index[1:]))
                continue
            yield holder, user
            if user.opcode == "bitcast":
                pending.append((user, index))
            elif user.opcode == "tuple":
                parts = (n for n, operand in enumerate(user.links.operands) if operand == holder.identity)
                pending += [(user, (part, *index)) for part in parts]
