"""Writing captures: for the self-test and for tests, which have to make what no machine at hand can record."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

Stats = Mapping[str, int | float | str]


def varint(value: int) -> bytes:
    """An unsigned number, or the 64 bits of a negative one."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, value: int | float | str | bytes) -> bytes:
    """A field: numbers as varints, floats as doubles, texts and messages with their length."""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def message(*fields: tuple[int, int | float | str | bytes]) -> bytes:
    """A message of fields in their order."""
    return b"".join(field(number, value) for number, value in fields)


def packed(number: int, values: Iterable[int]) -> bytes:
    """A repeated number."""
    return field(number, b"".join(map(varint, values)))


class Plane:
    """A plane whose names are put into its tables as they come. Times in picoseconds."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._events: dict[str, int] = {}
        self._stats: dict[str, int] = {}
        self._lines: dict[str, list[tuple[int, int, bytes]]] = {}
        self._metadata: list[bytes] = []

    def event(self, line: str, name: str, start: int, duration: int = 0, stats: Stats | None = None) -> None:
        """Add an event to a line."""
        identity = self._events.setdefault(name, len(self._events) + 1)
        content = message((1, identity), (2, start), *([(3, duration)] if duration else []))
        content += b"".join(field(4, self._stat(key, value)) for key, value in (stats or {}).items())
        self._lines.setdefault(line, []).append((start, -duration, content))

    def module(self, title: str, program_id: int, hlo: bytes) -> None:
        """Add a compiled module, as the metadata plane has them."""
        identity = self._events.setdefault(title, program_id)
        name = self._stats.setdefault("Hlo Proto", len(self._stats) + 1)
        entry = message((1, identity), (2, title), (5, message((1, name), (6, hlo))))
        self._metadata.append(field(4, message((1, identity), (2, entry))))

    def _stat(self, name: str, value: float | str) -> bytes:
        key = field(1, self._stats.setdefault(name, len(self._stats) + 1))
        if isinstance(value, float):
            return key + field(2, value)
        if isinstance(value, int):
            return key + field(4 if value < 1 << 62 else 3, value)
        return key + field(7, self._stats.setdefault(value, len(self._stats) + 1))  # real ones intern texts

    def content(self, *, ordered: bool = True) -> bytes:
        """The plane as an XPlane, with its events by time, or as they came."""
        out = message((1, 1), (2, self.name))
        for number, (name, events) in enumerate(self._lines.items(), 1):
            written = sorted(events, key=lambda e: e[:2]) if ordered else events
            body = b"".join(field(4, content) for _, _, content in written)
            out += field(3, message((1, number), (2, name), (3, 0)) + body)
        out += b"".join(self._metadata)
        if not self._metadata:
            out += _table(4, self._events)
        return out + _table(5, self._stats)


def _table(number: int, names: Mapping[str, int]) -> bytes:
    return b"".join(
        field(number, message((1, identity), (2, message((1, identity), (2, name)))))
        for name, identity in names.items()
    )


def space(*planes: bytes, host: str = "host") -> bytes:
    """An XSpace of planes."""
    return b"".join(field(1, plane) for plane in planes) + field(4, host)
