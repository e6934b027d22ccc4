"""A pool of device memory over time: what its allocator said at each allocation and deallocation."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from jaxlint.capture.xspace import Value

_DEVICE = re.compile(r"GPU_(\d+)_bfc$")
_COLUMNS = ("times", "sizes", "in_use", "available", "addresses", "fragmentation", "labels")


class Free(NamedTuple):
    """What an allocator had left, in bytes."""

    total: int
    largest: int  # contiguous


class Sample(NamedTuple):
    """What an allocator says of itself with an allocation or deallocation. Bytes; positive `size` allocates."""

    time: int  # picoseconds
    size: int  # the chunk, a multiple of 256, at least what was requested
    requested: int
    in_use: int  # afterwards
    available: int
    reserved: int
    peak: int  # of the process so far
    fragmentation: float
    address: int


class Pool:
    """The samples of one allocator in the order of time. Kept in columns: there may be millions."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.times = array("q")
        self.sizes = array("q")
        self.in_use = array("q")
        self.available = array("q")
        self.addresses = array("Q")
        self.fragmentation = array("d")
        self.labels = array("l")  # what made an allocation: see Runtime
        self.capacity = 0  # bytes
        self.lifetime_peak = 0

    @property
    def ordinal(self) -> int | None:
        """The device's number, as the pool's name tells it."""
        match = _DEVICE.search(self.name)
        if match:
            return int(match[1])
        return int(self.name[7:]) if self.name.startswith("device ") and self.name[7:].isdigit() else None

    @property
    def on_host(self) -> bool:
        """Pinned memory of the host: it can run out too, but not with device memory."""
        return "host" in self.name.lower()

    def add(self, sample: Sample, label: int) -> None:
        self.times.append(sample.time)
        self.sizes.append(sample.size)
        self.in_use.append(sample.in_use)
        self.available.append(sample.available)
        self.addresses.append(sample.address)
        self.fragmentation.append(sample.fragmentation)
        self.labels.append(label)
        self.capacity = max(self.capacity, sample.in_use + sample.available + sample.reserved)
        self.lifetime_peak = max(self.lifetime_peak, sample.peak)

    def cut(self, size: int) -> None:
        """Forget all samples but the first ones."""
        for name in _COLUMNS:
            del getattr(self, name)[size:]

    def sort(self) -> None:
        """Bring the samples of several threads into the order of time."""
        times = self.times
        if all(a <= b for a, b in pairwise(times)):
            return
        order = sorted(range(len(times)), key=times.__getitem__)
        for name in _COLUMNS:
            column = getattr(self, name)
            setattr(self, name, array(column.typecode, (column[i] for i in order)))

    @property
    def before(self) -> int:
        """Bytes in use before the first sample."""
        return self.in_use[0] - self.sizes[0] if self.times else 0

    @property
    def peak(self) -> int:
        """The most that was in use within the capture."""
        return max(max(self.in_use, default=0), self.before)

    @property
    def breaks(self) -> int:
        """Samples that do not follow from the one before: events between them are missing."""
        pairs = zip(self.in_use, self.in_use[1:], self.sizes[1:], strict=False)
        return sum(after != earlier + size for earlier, after, size in pairs)

    def in_use_at(self, time: int) -> int:
        """Bytes in use just before a time."""
        index = bisect_left(self.times, time)
        return self.in_use[index - 1] if index else self.before

    def free_at(self, time: int) -> Free | None:
        """What was left at a time; None before the first sample."""
        index = bisect_right(self.times, time)
        if not index:
            return None
        total = self.available[index - 1]
        share = min(max(self.fragmentation[index - 1], 0.0), 1.0)
        return Free(total, round(total * (1 - share)))

    def live_at(self, time: int) -> dict[int, int]:
        """Bytes that live just before a time, by the label of what allocated them; None's label is 0.

        What was allocated before the capture began is not in it.
        """
        alive: dict[int, tuple[int, int]] = {}
        for index in range(bisect_left(self.times, time)):
            size = self.sizes[index]
            if size >= 0:
                alive[self.addresses[index]] = size, self.labels[index]
            else:
                alive.pop(self.addresses[index], None)
        sums: dict[int, int] = {}
        for size, label in alive.values():
            sums[label] = sums.get(label, 0) + size
        return sums


def sample(time: int, allocation: bool, stats: Mapping[str, Value | None]) -> tuple[str, Sample] | None:
    """The pool and the sample of an allocator event; None where it lacks what makes one."""
    size = _number(stats, "allocation_bytes")
    in_use = _number(stats, "bytes_allocated")
    if size is None or in_use is None:
        return None
    made = Sample(
        time=time,
        size=size if allocation else -size,
        requested=_number(stats, "requested_bytes") or 0,
        in_use=in_use,
        available=_number(stats, "bytes_available") or 0,
        reserved=_number(stats, "bytes_reserved") or 0,
        peak=_number(stats, "peak_bytes_in_use") or 0,
        fragmentation=_fraction(stats.get("fragmentation")),
        address=_number(stats, "addr") or 0,
    )
    name = stats.get("allocator_name")
    if isinstance(name, str) and name and name != "(null)":
        return name, made
    return f"device {_number(stats, 'id') or 0}", made


def _number(stats: Mapping[str, Value | None], name: str) -> int | None:
    """A count of bytes, or an address. What no device can hold is taken for damage."""
    value = stats.get(name)
    return value if isinstance(value, int) and 0 <= value < 1 << 62 else None


def _fraction(value: Value | None) -> float:
    return value if isinstance(value, float) and 0.0 <= value <= 1.0 else 0.0
