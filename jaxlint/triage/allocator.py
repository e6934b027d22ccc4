"""What the BFC allocator of a GPU says before it gives up, in the words of xla/tsl/framework/bfc_allocator.cc and
stream_executor's allocators."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
_STATS = re.compile(r"\b(?P<key>Limit|InUse|MaxInUse):\s+(?P<bytes>\d+)\s*$")


@dataclass(slots=True)
class Pool:
    """What a pool of one process says of its latest failure: bytes, None where it does not say."""

    asked: int
    limit: int | None = None
    in_use: int | None = None

    @property
    def free(self) -> int | None:
        return None if self.limit is None or self.in_use is None else self.limit - self.in_use


_MOST = 1000  # pools, and requests


class Allocator:
    """Collects the allocator's complaints, by the process and the pool that they are about."""

    def __init__(self, collected: Collected) -> None:
        self._collected = collected
        self.requests: list[int] = []  # bytes, of devices
        self.pinned: set[int] = set()  # bytes, of pinned host memory
        self.pools: dict[tuple[str, str, str], Pool] = {}
        self._latest: dict[tuple[str, str], Pool] = {}  # the pool whose statistics follow

    def feed(self, line: Line) -> bool:
        """Whether the line says that an allocation of a device failed."""
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
        elif ("InUse:" in text or "Limit:" in text) and (found := _STATS.search(text)):
            pool = self._latest.get((line.file, line.rank))
            if pool is not None and found["key"] == "Limit":
                pool.limit = int(found["bytes"])
            elif pool is not None and found["key"] == "InUse":
                pool.in_use = int(found["bytes"])
        return False

    def _ran_out(self, line: Line) -> bool:
        found = _RAN_OUT.search(line.text)
        if not found or _NO_FAILURE in line.text:
            return False
        asked = int(found["bytes"]) if found["bytes"] else size(found["size"], found["size_unit"])
        name = found["pool"]
        of_host = "host" in name
        text = f"{name} ran out of memory when it was asked for {shown(asked)}"
        self._collected.note("pinned-host-pool" if of_host else "allocator-out", text, line, key=name)
        pool = Pool(asked)
        if len(self._latest) < _MOST:
            self._latest[line.file, line.rank] = pool
        if of_host:
            self.pinned |= {asked} if len(self.pinned) < _MOST else set()
            return False
        if len(self.pools) < _MOST:
            self.pools[line.file, line.rank, name] = pool
        self.requests.append(asked)
        del self.requests[_MOST:]
        return True

    @property
    def limit(self) -> int | None:
        """Bytes of the largest pool that says how large it is."""
        return max((pool.limit for pool in self.pools.values() if pool.limit), default=None)

    def fragmented(self) -> Pool | None:
        """A pool that had more free than its last request asked for."""
        return next((pool for pool in self.pools.values() if (pool.free or 0) > pool.asked), None)
