"""The peak of the temporary heap: the compiler's own trace of it, played again."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from jaxlint.capture.assignment import ALLOCATE, DEVICE_MEMORY, FREE, Assignment, HeapEvent


class Live(NamedTuple):
    """A buffer at the peak. Sharers of one stretch of memory are one; `shown` is the one in use."""

    buffer: int
    shown: int
    size: int  # bytes


class Peak(NamedTuple):
    size: int  # bytes
    position: int  # of the event that reached it
    events: int
    instruction: str
    live: tuple[Live, ...]  # largest first


def peak(assignment: Assignment) -> Peak | None:
    """The peak of the trace that belongs to the largest temporary block; None where there is no trace."""
    trace = _main_trace(assignment)
    return replay(trace, assignment) if trace else None


def _main_trace(assignment: Assignment) -> list[HeapEvent] | None:
    """Which block a trace is about is told by the buffers in it: the index it carries is not reliable."""
    owner = {
        buffer: number for number, block in enumerate(assignment.allocations) for buffer in block.assigned
    }
    best: tuple[int, list[HeapEvent]] | None = None
    for trace in assignment.traces:
        owners = Counter(owner[event.buffer] for event in trace if event.buffer in owner)
        if not owners:
            continue
        block = assignment.allocations[owners.most_common(1)[0][0]]
        of_interest = block.temporary and block.space == DEVICE_MEMORY
        if of_interest and (best is None or block.size > best[0]):
            best = block.size, trace
    return best[1] if best is not None else None


class _Heap:
    """What is allocated. Buffers that share memory are counted once, and until the last is freed."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._shares: dict[int, int] = {}
        self._references: Counter[int] = Counter()
        self.live: dict[int, int] = {}
        self.size = 0

    def _canonical(self, buffer: int) -> int:
        canonical = buffer
        while canonical in self._shares:
            canonical = self._shares[canonical]
        if canonical != buffer:
            self._shares[buffer] = canonical
        return canonical

    def allocate(self, buffer: int) -> bool:
        """Whether it made the heap larger."""
        canonical = self._canonical(buffer)
        self._references[canonical] += 1
        if self._references[canonical] > 1:
            return False
        self.size += self._assignment.size(canonical)
        self.live[canonical] = buffer
        return True

    def share(self, buffer: int, other: int) -> bool:
        """The buffer takes the memory of another one. Whether that made the heap larger."""
        canonical = self._canonical(other)
        if canonical != self._canonical(buffer):  # a damaged trace must not share in circles
            self._shares[buffer] = canonical
        return self.allocate(buffer)

    def free(self, buffer: int) -> None:
        canonical = self._canonical(buffer)
        self._references[canonical] -= 1
        if self._references[canonical] == 0 and canonical in self.live:
            self.size -= self._assignment.size(canonical)
            del self.live[canonical]


def replay(trace: list[HeapEvent], assignment: Assignment) -> Peak:
    """The peak of a trace that is not empty."""
    position = _position_of_peak(trace, assignment)
    heap = _Heap(assignment)
    for event in trace[: position + 1]:
        _apply(heap, event)
    live = [Live(canonical, shown, assignment.size(canonical)) for canonical, shown in heap.live.items()]
    live.sort(key=lambda item: -item.size)
    instruction = trace[position].instruction if trace else ""
    return Peak(heap.size, position, len(trace), instruction, tuple(live))


def _position_of_peak(trace: list[HeapEvent], assignment: Assignment) -> int:
    heap = _Heap(assignment)
    highest = best = 0
    for position, event in enumerate(trace):
        if _apply(heap, event) and heap.size > highest:
            highest, best = heap.size, position
    return best


def _apply(heap: _Heap, event: HeapEvent) -> bool:
    if event.kind == ALLOCATE:
        return heap.allocate(event.buffer)
    if event.kind == FREE:
        heap.free(event.buffer)
        return False
    return heap.share(event.buffer, event.shared_with)
