"""What the BFC allocator of a GPU says before it gives up, in the words of xla/tsl/framework/bfc_allocator.cc and
stream_executor's allocators."""

from __future__ import annotations

import re

from jaxlint.triage.evidence import Collected
from jaxlint.triage.reading import Line
from jaxlint.triage.sizes import SIZE, shown, size

_RAN_OUT = re.compile(
    rf"Allocator \((?P<pool>[^)]+)\) ran out of memory trying to allocate {SIZE.format('size')}"
    r"(?: \(rounded to (?P<bytes>\d+)\))?"
)
# The allocator asks for more than it needs first; this is said when it does without.
_NO_FAILURE = "The caller indicates that this is not a failure"
_FROM_DEVICE = re.compile(
    rf"(?i)failed to allocate {SIZE.format('size')} \((?P<bytes>\d+) bytes\) from device"
)
_MAP = re.compile(r"(?:\] |^)(?P<map>[*_x]{90,110})\s*$")
_STATS = re.compile(r"\b(?P<key>Limit|InUse|MaxInUse):\s+(?P<bytes>\d+)\s*$")


class Allocator:
    """Collects the allocator's complaints. `limit` and `in_use` are bytes, None where it does not say."""

    def __init__(self, collected: Collected) -> None:
        self._collected = collected
        self.requests: list[int] = []
        self.limit: int | None = None
        self.in_use: int | None = None
        self.full: float | None = None  # share of the pool in use, from the map it draws
        self._map_follows = False

    def feed(self, line: Line) -> bool:
        """Whether the line says that an allocation failed."""
        text = line.text
        if "ran out of memory trying" in text:
            return self._ran_out(line)
        if "from device" in text:
            found = _FROM_DEVICE.search(text)
            if found:
                self._collected.note(
                    "taken-at-start",
                    f"the device did not give JAX {shown(int(found['bytes']))}: it is not free",
                    line,
                    key="taken-at-start",
                )
                return True
        elif self._map_follows and ("***" in text or "___" in text):
            found = _MAP.search(text)
            if found:
                self.full = 1 - found["map"].count("_") / len(found["map"])
                self._map_follows = False
        elif ("InUse:" in text or "Limit:" in text) and (found := _STATS.search(text)):
            if found["key"] == "Limit":
                self.limit = int(found["bytes"])
            elif found["key"] == "InUse":
                self.in_use = int(found["bytes"])
        return False

    def _ran_out(self, line: Line) -> bool:
        found = _RAN_OUT.search(line.text)
        if not found or _NO_FAILURE in line.text:
            return False
        asked = int(found["bytes"]) if found["bytes"] else size(found["size"], found["size_unit"])
        self.requests.append(asked)
        del self.requests[1000:]
        self._map_follows = True
        self._collected.note(
            "allocator-out",
            f"{found['pool']} ran out of memory when it was asked for {shown(asked)}",
            line,
            key=found["pool"],
        )
        return True

    def is_fragmented(self) -> bool:
        """Whether more was free than the last request asked for."""
        if not self.requests or self.limit is None or self.in_use is None:
            return False
        return self.limit - self.in_use > self.requests[-1]
