"""The compiled modules in a capture or a file: found at once, decoded when asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property, partial

from jaxlint.capture import assignment, hlo_proto, plan, wire, xspace
from jaxlint.capture.assignment import Assignment
from jaxlint.capture.plan import Plan, Totals
from jaxlint.capture.program import Program

METADATA_PLANE = "/host:metadata"


class Module:
    """A compiled module. `title` is `jit_step(40)`, with the program's id; `size` its own in the file, in bytes."""

    def __init__(
        self,
        title: str,
        size: int,
        program: Callable[[], Program],
        assignment: Callable[[], Assignment] | None,
    ) -> None:
        """`assignment` is None where the module has no memory plan."""
        self.title, self.size = title, size
        self._program, self._assignment = program, assignment

    @property
    def name(self) -> str:
        """Without the program's id, or what else a dump puts around it."""
        dumped = re.match(r"module_\d+\.([\w\-<>]+)\.", self.title)
        return dumped[1] if dumped else re.sub(r"\(\d+\)$", "", self.title)

    @property
    def planned(self) -> bool:
        """Whether there is a buffer assignment."""
        return self._assignment is not None

    @cached_property
    def program(self) -> Program:
        """Raises wire.Damaged."""
        return self._program()

    @cached_property
    def assignment(self) -> Assignment:
        """Raises wire.Damaged."""
        return self._assignment() if self._assignment is not None else Assignment()

    @cached_property
    def totals(self) -> Totals:
        """Without decoding the instructions."""
        return plan.totals(self.assignment)

    @cached_property
    def plan(self) -> Plan:
        return plan.make(self.title, self.assignment, self.program)


def of_bytes(title: str, data: wire.Data, start: int, end: int) -> Module:
    """An HloProto in data[start:end]. Raises wire.Damaged."""
    parts = {
        number: (value, stop)
        for number, kind, value, stop in wire.fields(data, start, end)
        if kind == wire.BYTES
    }
    return Module(
        title,
        end - start,
        partial(hlo_proto.read, data, *parts.get(1, (0, 0))),
        partial(assignment.read, data, *parts[3]) if 3 in parts else None,
    )


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
                yield of_bytes(metadata.name, data, *value)
