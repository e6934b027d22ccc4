"""An XSpace, the container of a profiler capture: planes, their lines, their events.

Field numbers are those of xplane.proto. Only what is asked for is decoded: a plane is found by its name, and the
others cost nothing.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NamedTuple

from jaxlint.capture import wire

Value = int | float | str | tuple[int, int]
"""Of a stat: a number, a text, or the span of its bytes."""


class Plane(NamedTuple):
    """A plane lies in data[start:end]."""

    name: str
    start: int
    end: int


class Stat(NamedTuple):
    """One XStat: which (by id), and its value; `reference` where the value is the id of a name."""

    metadata: int
    value: Value | None
    reference: bool = False


class EventMetadata(NamedTuple):
    name: str
    stats: tuple[tuple[int, int], ...]  # spans of XStats


class Names(NamedTuple):
    """What ids stand for within a plane."""

    events: dict[int, EventMetadata]
    stats: dict[int, str]

    def stat(self, stat: Stat) -> tuple[str, Value | None]:
        """The name of a stat and its value."""
        value = stat.value
        if stat.reference and isinstance(value, int):
            value = self.stats.get(value, "")
        return self.stats.get(stat.metadata, ""), value


def planes(data: wire.Data) -> Iterator[Plane]:
    """All planes of a capture. Raises wire.Damaged."""
    for number, kind, start, end in wire.fields(data, 0, len(data)):
        if number == 1 and kind == wire.BYTES:
            yield Plane(_plane_name(data, start, end), start, end)


def _plane_name(data: wire.Data, start: int, end: int) -> str:
    for number, kind, value, stop in wire.fields(data, start, end):
        if number == 2 and kind == wire.BYTES:
            return wire.text(data, value, stop)
    return ""


def hostnames(data: wire.Data) -> list[str]:
    """The machines that a capture says it is of."""
    return [
        wire.text(data, start, end)
        for number, kind, start, end in wire.fields(data, 0, len(data))
        if number == 4 and kind == wire.BYTES
    ]


def names(data: wire.Data, plane: Plane) -> Names:
    """The metadata tables of a plane. Raises wire.Damaged."""
    events: dict[int, EventMetadata] = {}
    stats: dict[int, str] = {}
    for number, kind, start, end in wire.fields(data, plane.start, plane.end):
        if kind != wire.BYTES or number not in (4, 5):
            continue
        key, entry = 0, None
        for sub, form, value, stop in wire.fields(data, start, end):
            if sub == 1 and form == wire.VARINT:
                key = wire.signed(value)
            elif sub == 2 and form == wire.BYTES:
                entry = value, stop
        identity, name, spans = _metadata(data, *entry) if entry is not None else (0, "", ())
        if number == 4:
            events[identity or key] = EventMetadata(name, spans)
        else:
            stats[identity or key] = name
    return Names(events, stats)


def event_names(data: wire.Data, plane: Plane, wanted: Container[int]) -> dict[int, str]:
    """The names of some events of a plane, by id. Raises wire.Damaged."""
    found: dict[int, str] = {}
    for number, kind, start, end in wire.fields(data, plane.start, plane.end):
        if number != 4 or kind != wire.BYTES:
            continue
        key = 0
        for sub, form, value, stop in wire.fields(data, start, end):
            if sub == 1 and form == wire.VARINT:
                key = wire.signed(value)
            elif sub == 2 and form == wire.BYTES and key in wanted:
                found[key] = _metadata(data, value, stop)[1]
    return found


def _metadata(data: wire.Data, start: int, end: int) -> tuple[int, str, tuple[tuple[int, int], ...]]:
    """XEventMetadata and XStatMetadata have these in common; only the former has stats, in field 5."""
    identity, name = 0, ""
    spans: list[tuple[int, int]] = []
    for number, kind, value, stop in wire.fields(data, start, end):
        if number == 1 and kind == wire.VARINT:
            identity = wire.signed(value)
        elif number == 2 and kind == wire.BYTES:
            name = wire.text(data, value, stop)
        elif number == 5 and kind == wire.BYTES:
            spans.append((value, stop))
    return identity, name, tuple(spans)


def stat(data: wire.Data, start: int, end: int) -> Stat:
    """One XStat. Raises wire.Damaged."""
    identity = 0
    value: Value | None = None
    reference = False
    for number, kind, at, stop in wire.fields(data, start, end):
        if kind == wire.VARINT:
            if number == 1:
                identity = wire.signed(at)
            elif number in (3, 4, 7):
                value, reference = (wire.signed(at) if number == 4 else at), number == 7
        elif number == 2 and kind == wire.FIXED64:
            value = wire.double(data, at)
        elif number == 5 and kind == wire.BYTES:
            value = wire.text(data, at, stop)
        elif number == 6 and kind == wire.BYTES:
            value = at, stop
    return Stat(identity, value, reference)


def stats(data: wire.Data, plane: Plane, known: Names) -> dict[str, Value | None]:
    """The stats of a plane itself, by name."""
    found = (
        known.stat(stat(data, start, end))
        for number, kind, start, end in wire.fields(data, plane.start, plane.end)
        if number == 6 and kind == wire.BYTES
    )
    return dict(found)
