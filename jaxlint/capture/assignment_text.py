"""A buffer assignment as text, from an XLA dump: blocks, the buffers in each, and when each is alive."""

from __future__ import annotations

import re

from jaxlint.capture import heap_trace
from jaxlint.capture.assignment import (
    SHARE,
    Allocation,
    Assignment,
    Definition,
    LogicalBuffer,
)
from jaxlint.capture.heap_trace import Range

_BLOCK = re.compile(r"allocation (\d+): size (\d+)(.*):\s*$")
# A value where control flow meets, a loop's own above all, is marked as `(phi)`.
_VALUE = re.compile(r"\s*value: <(\d+) (\S+?)(\{[\d, ]*\})?( \(phi\))? @\d+> \(size=(\d+),offset=(\d+)\)")
_USED = re.compile(r"<(\d+) .+ @\d+>\s*$")
_POSITION = re.compile(r"  ([\w.\-]+)(?: \{([\d, ]*)\})?\s*$")
_RANGE = re.compile(r"\s+(\S+?)(\{[\d, ]*\}):(\d+)-(\d+)\s*$")
_STEP = re.compile(r"\s+(\d+):(\S+)\s*$")


def read(blocks: str, ranges: str = "", values: str = "") -> Assignment:
    """From `…-buffer-assignment.txt`, `…-live-range.txt` and `…-buffer-assignment-values.txt`.

    Older XLA writes all into the first one. Without live ranges there is no trace of the temporary heap.
    """
    assignment = Assignment()
    meeting = _read_blocks(assignment, blocks)
    _read_positions(assignment, values or blocks)
    _read_ranges(assignment, ranges or blocks, meeting)
    return assignment


def _read_blocks(assignment: Assignment, text: str) -> set[int]:
    """The blocks, and the values where control flow meets: they are the value before them, under another name."""
    meeting: set[int] = set()
    current: Allocation | None = None
    assigned: list[int] = []

    def finish() -> None:
        if current is not None:
            assignment.allocations.append(current._replace(assigned=tuple(assigned)))

    for line in text.splitlines():
        block = _BLOCK.match(line)
        if block is not None:
            finish()
            current, assigned = _block(block), []
        elif line.startswith(("Total bytes used", "Used values")):
            break
        elif (value := _VALUE.match(line)) is not None:
            buffer = int(value[1])
            assigned.append(buffer)
            if value[4]:
                meeting.add(buffer)
            assignment.offsets[buffer] = int(value[6])
            definition = Definition(None, value[2], _integers(value[3] or ""))
            assignment.buffers[buffer] = LogicalBuffer(int(value[5]), definition)
    finish()
    return meeting


def _block(match: re.Match[str]) -> Allocation:
    facts = match[3]
    parameter = re.search(r"parameter (\d+)", facts)
    space = re.search(r"color (\d+)", facts)
    return Allocation(
        number=int(match[1]),
        size=int(match[2]),
        space=int(space[1]) if space else 0,
        thread_local="thread-local" in facts,
        parameter=parameter is not None,
        parameter_number=int(parameter[1]) if parameter else 0,
        parameter_index=_integers(facts.rpartition("ShapeIndex")[2]) if parameter else (),
        live_out="maybe-live-out" in facts,
        constant="constant" in facts,
        aliased=False,
        assigned=(),
    )


def _read_positions(assignment: Assignment, text: str) -> None:
    """The other places where a value is: parts of loops and tuples."""
    buffer, within = -1, False
    for line in text.splitlines():
        used = _USED.search(line)
        if used is not None:
            buffer, within = int(used[1]), False
        elif line.startswith(" "):
            if line.strip().endswith(":"):
                within = line.strip() == "positions:"
            elif within and (position := _POSITION.match(line)) is not None:
                assignment.aliases[buffer].append(Definition(None, position[1], _integers(position[2] or "")))


def _read_ranges(assignment: Assignment, text: str, meeting: set[int]) -> None:
    """The trace of the largest temporary block: its buffers as they come and go."""
    block = max((b for b in assignment.allocations if b.temporary), key=lambda b: b.size, default=None)
    if block is None:
        return
    known = {_key(assignment.buffers[number].definition): number for number in block.assigned}
    steps: dict[int, str] = {}
    alive: list[Range] = []
    for line in text.splitlines():
        live = _RANGE.match(line)
        if live is not None:
            number = known.get((live[1], _integers(live[2])))
            if number is not None:
                alive.append(Range(int(live[3]), int(live[4]), number, number in meeting))
        elif (step := _STEP.match(line)) is not None:
            steps[int(step[1])] = step[2]
    if alive:
        trace = heap_trace.of_ranges(alive, steps, assignment.offsets)
        assignment.traces.append(trace)
        for event in trace:
            if event.kind == SHARE:
                assignment.aliases[event.shared_with].append(assignment.buffers[event.buffer].definition)


def _key(definition: Definition) -> tuple[str, tuple[int, ...]]:
    return definition.name, definition.shape_index


def _integers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))
