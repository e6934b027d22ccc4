"""What a capture of a TPU tells: which modules ran on which device, and nothing about their memory.

A TPU's runtime takes memory on the device and records neither an allocator's events nor the phases of an execution
on the host, as the clients of GPUs do. Its device planes have a line with one event for each module that ran (names
as in XProf's xplane_schema). No capture of a TPU was at hand, so this much is read, and the rest is said to be
unknown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.capture import lines, wire, xspace

_PLANE = re.compile(r"/device:TPU:(\d+)")
_MODULES = "XLA Modules"
_PROGRAM = re.compile(r"\(\d+\)$")


class Device(NamedTuple):
    """A TPU of a capture, with how often each module ran to its end."""

    number: int
    ran: Counter[str]


def devices(data: wire.Data) -> Iterator[Device]:
    """The TPUs of a capture. Raises wire.Damaged."""
    for plane in xspace.planes(data):
        found = _PLANE.match(plane.name)
        if found:
            yield Device(int(found[1]), _modules(data, plane))


def _modules(data: wire.Data, plane: xspace.Plane) -> Counter[str]:
    by_identity: Counter[int] = Counter()
    for line in lines.lines(data, plane):
        if line.name == _MODULES:
            by_identity.update(identity for _, _, identity, _, _ in lines.events(data, line))
    names = xspace.event_names(data, plane, by_identity)
    ran: Counter[str] = Counter()
    for identity, count in by_identity.items():
        ran[_PROGRAM.sub("", names.get(identity, ""))] += count
    return ran
