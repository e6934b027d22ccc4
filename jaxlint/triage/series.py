"""A memory over time: does it grow, in stairs or steadily, or is it flat?"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from jaxlint.triage.evidence import Place

_MOST = 4096  # samples kept; of longer series every second one is dropped, as often as needed
_FEWEST = 6  # samples that a growth is read from
_LEAST = 64 << 20  # bytes: less than this is noise of an allocator
_SHARE = 0.05  # of the highest value: less is no growth


@dataclass(slots=True)
class Sample:
    """Bytes in use. `when` is seconds since midnight or the epoch, None where the log does not say."""

    place: Place
    used: int
    when: float | None
    step: int | None


@dataclass(slots=True)
class Series:
    """The samples of one memory: `host`, `rss 1234`, `gpu 0`. `capacity` in bytes, 0 where it is not known."""

    name: str
    on_device: bool
    samples: list[Sample] = field(default_factory=list)
    capacity: int = 0
    seen: int = 0
    _every: int = 1

    def add(self, sample: Sample) -> None:
        self.seen += 1
        if self.seen % self._every:
            return
        self.samples.append(sample)
        if len(self.samples) > _MOST:
            self.samples = self.samples[::2]
            self._every *= 2

    @property
    def is_assumed(self) -> bool:
        """Whether the log gives numbers alone, and their unit is a guess."""
        return "(no unit" in self.name

    @property
    def first(self) -> int:
        return self.samples[0].used

    @property
    def last(self) -> int:
        return self.samples[-1].used

    @property
    def peak(self) -> int:
        return max(sample.used for sample in self.samples)

    def growth(self) -> Growth | None:
        """How it grows, None where it does not."""
        return _growth([s.used for s in self.samples], self.samples)


@dataclass(slots=True)
class Growth:
    """From `begin` to `end` bytes. `per_step` is bytes a step (`of` says of what), `in_stairs` how."""

    begin: int
    end: int
    per_step: float
    of: str
    in_stairs: bool


def _growth(used: list[int], samples: list[Sample]) -> Growth | None:
    """Growth is a rise that has not come to an end: what comes up at the start and stays is a working set."""
    if len(used) < _FEWEST:
        return None
    quarter = max(2, len(used) // 4)
    quarters = [median(used[i : i + quarter]) for i in range(0, len(used) - quarter + 1, quarter)]
    third = max(2, len(used) // 3)
    begin, middle, end = median(used[:third]), median(used[third : 2 * third]), median(used[-third:])
    rise = end - begin
    least = max(_LEAST, _SHARE * max(used))
    if rise < least or end - middle < rise / 5:
        return None
    falls = sum(max(0, a - b) for a, b in pairwise(used))
    rises = sum(max(0, b - a) for a, b in pairwise(used))
    if falls > rises / 2 or any(b < a for a, b in pairwise(quarters)):
        return None
    per_step, of = _per_step(samples)
    return Growth(used[0], used[-1], per_step, of, _in_stairs(used))


def _per_step(samples: list[Sample]) -> tuple[float, str]:
    stepped = [s for s in samples if s.step is not None]
    if len(stepped) >= 3:
        first, last = stepped[0], stepped[-1]
        steps = (last.step or 0) - (first.step or 0)
        if steps > 0:
            return (last.used - first.used) / steps, "step"
    timed = [s for s in samples if s.when is not None]
    if len(timed) >= 3:
        seconds = (timed[-1].when or 0) - (timed[0].when or 0)
        if seconds > 0:
            return (timed[-1].used - timed[0].used) / seconds * 60, "minute"
    return (samples[-1].used - samples[0].used) / (len(samples) - 1), "sample"


def _in_stairs(used: list[int]) -> bool:
    """Mostly flat, with a few rises that make up the whole."""
    rises = [b - a for a, b in pairwise(used)]
    still = sum(abs(rise) < _LEAST / 32 for rise in rises)
    return still * 2 >= len(rises)
