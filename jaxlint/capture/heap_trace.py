"""A trace of the temporary heap, put together from when each buffer is alive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from jaxlint.capture.assignment import ALLOCATE, FREE, SHARE, HeapEvent


class Range(NamedTuple):
    """A buffer is alive from one step of the schedule to another, both included. One that goes on is what lay at
    its place until then, under the name of the loop or branch that it came to.
    """

    start: int
    end: int
    buffer: int
    goes_on: bool = False


class _Place:
    """Some stretch of the block, while buffers that are one have it."""

    def __init__(self, buffer: int, until: int) -> None:
        self.buffer, self.until = buffer, until
        self.frees: list[tuple[int, int]] = []  # step, buffer


def of_ranges(
    ranges: Iterable[Range], steps: Mapping[int, str], offsets: Mapping[int, int]
) -> list[HeapEvent]:
    """Buffers at one place of the block that live at once are one. `steps` are the instructions' names."""
    held: dict[int, _Place] = {}
    places: list[_Place] = []
    events: list[tuple[int, int, HeapEvent]] = []
    for start, end, number, goes_on in sorted(ranges):
        name = steps.get(start, "")
        place = held.get(offsets.get(number, 0))
        if place is not None and (start < place.until or (goes_on and start == place.until)):
            events.append((start, 1, HeapEvent(SHARE, number, place.buffer, name)))
            place.until = max(place.until, end)
        else:
            # What ends with the step that begins here gives its memory to that step's result.
            if place is not None and place.until == start:
                place.frees = [(start, free[1]) for free in place.frees]
            events.append((start, 1, HeapEvent(ALLOCATE, number, 0, name)))
            place = held[offsets.get(number, 0)] = _Place(number, end)
            places.append(place)
        place.frees.append((end + 1, number))
    for place in places:
        events += [(position, 0, HeapEvent(FREE, number, 0, "")) for position, number in place.frees]
    return [event for _, _, event in sorted(events, key=lambda item: item[:2])]
