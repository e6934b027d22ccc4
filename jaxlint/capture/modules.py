"""The compiled modules in a capture or a file: found at once, decoded when asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from jaxlint.capture import assignment, hlo_proto, plan, wire, xspace
from jaxlint.capture.assignment import Assignment
from jaxlint.capture.plan import Plan, Totals
from jaxlint.capture.program import Program

METADATA_PLANE = "/host:metadata"


class Module:
    """A compiled module: an HloProto in data[start:end]. `title` is `jit_step(40)`, with the program's id."""

    def __init__(self, title: str, data: wire.Data, start: int, end: int) -> None:
        self.title = title
        self.size = end - start
        self._data, self._span = data, (start, end)
        self._parts = {
            number: (value, stop)
            for number, kind, value, stop in wire.fields(data, start, end)
            if kind == wire.BYTES
        }

    def content(self) -> bytes:
        """The module as it stands in the file."""
        return bytes(self._data[slice(*self._span)])

    @property
    def name(self) -> str:
        """Without the program's id."""
        return re.sub(r"\(\d+\)$", "", self.title)

    @property
    def planned(self) -> bool:
        """Whether there is a buffer assignment."""
        return 3 in self._parts

    @cached_property
    def program(self) -> Program:
        """Raises wire.Damaged."""
        return hlo_proto.read(self._data, *self._parts.get(1, (0, 0)))

    @cached_property
    def assignment(self) -> Assignment:
        """Raises wire.Damaged."""
        return assignment.read(self._data, *self._parts.get(3, (0, 0)))

    @cached_property
    def totals(self) -> Totals:
        """Without decoding the instructions."""
        return plan.totals(self.assignment)

    @cached_property
    def plan(self) -> Plan:
        return plan.make(self.title, self.assignment, self.program)


def of_capture(data: wire.Data) -> Iterator[Module]:
    """The modules that the metadata plane of a capture holds. Raises wire.Damaged."""
    for plane in xspace.planes(data):
        if plane.name == METADATA_PLANE:
            yield from _of_plane(data, plane)


def _of_plane(data: wire.Data, plane: xspace.Plane) -> Iterator[Module]:
    names = xspace.names(data, plane)
    for metadata in names.events.values():
        for start, end in metadata.stats:
            name, value = names.stat(xspace.stat(data, start, end))
            if name.lower().replace("_", " ") == "hlo proto" and isinstance(value, tuple):
                yield Module(metadata.name, data, *value)
