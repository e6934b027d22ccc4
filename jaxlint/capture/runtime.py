"""What happened to memory while a capture was taken: the allocators' events, tied to executions.

Host events lie on the threads that caused them, so that what encloses an allocation says what it was for.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.capture import executions, host_events, lines, pools, tpu, wire, xspace
from jaxlint.capture.executions import Execution
from jaxlint.capture.host_events import Kind, Meaning
from jaxlint.capture.lines import Event, Line
from jaxlint.capture.pools import Pool

HOST_PLANE = "/host:CPU"
BEFORE = "allocated before the capture started"


class Holding(NamedTuple):
    """What one cause keeps in memory. `module` and `number` are set for outputs of an execution."""

    what: str
    size: int  # bytes
    module: str = ""
    number: int = 0


class Wait(NamedTuple):
    """The allocator waited for memory outside of any execution."""

    seconds: float
    origin: str  # what asked


class Runtime:
    """The host plane of a capture, as far as memory is concerned."""

    def __init__(self) -> None:
        self.events = 0
        self.pools: dict[str, Pool] = {}
        self.executions: list[Execution] = []
        self.launches = 0
        self.waits: list[Wait] = []
        self.called: set[str] = set()  # modules whose jitted function was called
        self.tpus: list[tpu.Device] = []
        self._origins: dict[str, int] = {}
        self._created: list[Execution] = []

    def device_pools(self) -> list[Pool]:
        """The tightest first: where an execution failed, then where the least was left."""
        found = [pool for pool in self.pools.values() if not pool.on_host] or list(self.pools.values())
        failed = {e.allocator for e in self.executions if self.failed(e)}
        return sorted(
            found, key=lambda p: (p.name not in failed, (p.capacity - p.peak) / max(p.capacity, 1), p.name)
        )

    def executions_in(self, pool: Pool, module: str | None = None) -> list[Execution]:
        """In the order of time."""
        return [e for e in self.executions if e.allocator == pool.name and module in (None, e.module)]

    def failed(self, execution: Execution) -> bool:
        """Whether it never launched a kernel, where launches show: the allocators of GPUs and their client."""
        visible = self.launches or execution.waited or execution.allocator.endswith("_bfc")
        return bool(visible) and not execution.launched and not execution.allocator.startswith("device ")

    def holdings(self, pool: Pool, time: int) -> list[Holding]:
        """What lives in a pool just before a time, by what allocated it, largest first."""
        sums = pool.live_at(time)
        origins = list(self._origins)
        found: Counter[tuple[str, str, int]] = Counter()
        for label, size in sums.items():
            if label < 0:
                execution = self._created[-label - 1].whole
                name = execution.module or "a module without a name"
                what = f"outputs of {name} execution {execution.number}"
                found[what, execution.module, execution.number] += size
            else:
                found[origins[label], "", 0] += size
        before = pool.in_use_at(time) - sum(sums.values())
        if before > 0:
            found[BEFORE, "", 0] += before
        return [Holding(what, size, module, at) for (what, module, at), size in found.most_common()]


def read(data: wire.Data) -> Runtime:
    """The runtime part of a capture; empty where it has no host plane. Raises wire.Damaged."""
    runtime = Runtime()
    for plane in xspace.planes(data):
        if plane.name == HOST_PLANE:
            _HostPlane(data, plane, runtime).read()
    runtime.tpus = list(tpu.devices(data))
    return runtime


def between(data: wire.Data, first: Execution, last: Execution) -> list[tuple[str, int]]:
    """Host events on the thread of two executions that lie wholly between them, with how often, most first."""
    if first.line != last.line:
        return []
    names: dict[int, str] = {}
    for plane in xspace.planes(data):
        if plane.name == HOST_PLANE and plane.start <= first.line.first < plane.end:
            names = {identity: entry.name for identity, entry in xspace.names(data, plane).events.items()}
    counts: Counter[int] = Counter()
    start = first.next_field if first.next_field < last.next_field else 0
    for time, duration, identity, _, _ in lines.events(
        data, first.line, start, last.next_field if start else 0
    ):
        if first.end <= time and time + duration <= last.start:
            counts[identity] += 1
    return [(names.get(identity, ""), count) for identity, count in counts.most_common()]


class _OutOfOrder(Exception):
    """A line's events are not sorted by time."""


class _HostPlane:
    """Reads one host plane into a runtime."""

    def __init__(self, data: wire.Data, plane: xspace.Plane, runtime: Runtime) -> None:
        self._data, self._plane, self._runtime = data, plane, runtime
        self._names = xspace.names(data, plane)
        self._meanings: dict[int, Meaning] = {}
        for identity, entry in self._names.events.items():
            meaning = host_events.meaning(entry.name)
            if meaning.kind is not Kind.PLAIN:
                self._meanings[identity] = meaning
            if meaning.kind is Kind.CALL:
                runtime.called.add(meaning.module)
        # Start, end and module of the last ones: by them executions are named that have failed.
        self._calls: deque[tuple[int, int, str]] = deque(maxlen=_MOST_CALLS)

    def read(self) -> None:
        for line in lines.lines(self._data, self._plane):
            known = {name: len(pool.times) for name, pool in self._runtime.pools.items()}
            created, events = len(self._runtime._created), self._runtime.events
            waits = len(self._runtime.waits)
            try:
                self._read(line, lines.events(self._data, line), strict=True)
            except _OutOfOrder:
                for name, pool in self._runtime.pools.items():
                    pool.cut(known.get(name, 0))
                del self._runtime._created[created:], self._runtime.waits[waits:]
                self._read(line, lines.sorted_events(self._data, line, self._meanings), strict=False)
                self._runtime.events = events + lines.count(self._data, line)
        self._settle()

    def _read(self, line: Line, events: Iterator[Event], *, strict: bool) -> None:
        enclosing: list[tuple[int, int]] = []  # where it ends, and what it is
        running: list[Execution] = []
        meanings, runtime = self._meanings, self._runtime
        before, length, count = -1 << 62, 0, 0
        for start, duration, identity, stats, stop in events:
            count += 1
            if start <= before and strict and (start < before or duration > length):
                raise _OutOfOrder
            before, length = start, duration
            # An instant at the very end of an event still belongs to it.
            while enclosing and (enclosing[-1][0] < start or (duration and enclosing[-1][0] == start)):
                enclosing.pop()
            if identity in meanings:
                meaning = meanings[identity]
                while running and (running[-1].end < start or (duration and running[-1].end == start)):
                    running.pop()
                self._note(meaning, start, duration, stats, stop, line, enclosing, running)
            if duration and len(enclosing) < _MOST_ENCLOSING:
                enclosing.append((start + duration, identity))
        runtime.events += count

    def _note(
        self,
        meaning: Meaning,
        start: int,
        duration: int,
        stats: int,
        stop: int,
        line: Line,
        enclosing: list[tuple[int, int]],
        running: list[Execution],
    ) -> None:
        """An event that matters. `enclosing` and `running` are those around it, outermost first."""
        kind = meaning.kind
        if kind is Kind.CALL:
            self._calls.append((start, start + duration, meaning.module))
        elif kind is Kind.ALLOCATION or kind is Kind.DEALLOCATION:
            self._sample(kind is Kind.ALLOCATION, start, stats, stop, enclosing, running)
        elif kind is Kind.EXECUTION or (kind is Kind.PART and not running):
            running.append(self._begin(meaning, start, duration, line, stop, enclosing))
        elif kind is Kind.LAUNCH:
            self._runtime.launches += 1
            if not running:
                running.append(self._begin(meaning, start, duration, line, stop, enclosing))
            running[-1].launched = True
            running[-1].module = meaning.module or running[-1].module
        elif kind is Kind.RETRY and running:
            running[-1].waited += duration
            running[-1].retry_at = start
        elif kind is Kind.RETRY:
            self._runtime.waits.append(Wait(duration / 1e12, self._origin(enclosing)))

    def _begin(
        self,
        meaning: Meaning,
        start: int,
        duration: int,
        line: Line,
        stop: int,
        enclosing: list[tuple[int, int]],
    ) -> Execution:
        """A new execution, or a part of one whose beginning is on another thread."""
        part = meaning.kind is not Kind.EXECUTION
        module = meaning.module or ("" if part else self._called(enclosing))
        if len(self._runtime._created) >= _MOST_EXECUTIONS:
            raise wire.Damaged(f"more than {_MOST_EXECUTIONS} executions: no profiler keeps so many")
        execution = Execution(start, start + duration, line, stop, module, meaning.ordinal, part)
        self._runtime._created.append(execution)
        return execution

    def _sample(
        self,
        allocation: bool,
        time: int,
        stats: int,
        stop: int,
        enclosing: list[tuple[int, int]],
        running: list[Execution],
    ) -> None:
        found = pools.sample(time, allocation, self._stats(stats, stop))
        if found is None:
            return
        name, sample = found
        runtime = self._runtime
        pool = runtime.pools.get(name)
        if pool is None:
            pool = runtime.pools[name] = Pool(name)
        label = 0
        if allocation and running:
            label = self._label(running[-1])
            if not pool.on_host:
                running[-1].requests.append(sample.requested)
                running[-1].last_request = time
                running[-1].allocator = name
        elif allocation:
            origin = self._origin(enclosing)
            label = runtime._origins.setdefault(origin, len(runtime._origins))
        pool.add(sample, label)

    def _origin(self, enclosing: list[tuple[int, int]]) -> str:
        return host_events.origin([self._name(identity) for _, identity in enclosing[-_DEEPEST:]])

    def _label(self, execution: Execution) -> int:
        """Executions are labelled by negative numbers, other origins by those from 0."""
        created = self._runtime._created
        index = len(created) - 1
        while created[index] is not execution:  # one that runs began lately
            index -= 1
        return -index - 1

    def _stats(self, start: int, end: int) -> dict[str, xspace.Value | None]:
        found = (
            self._names.stat(xspace.stat(self._data, value, stop))
            for number, kind, value, stop in wire.fields(self._data, start, end)
            if number == 4 and kind == wire.BYTES
        )
        return dict(found)

    def _name(self, identity: int) -> str:
        entry = self._names.events.get(identity)
        return entry.name if entry is not None else ""

    def _called(self, enclosing: list[tuple[int, int]]) -> str:
        """The module that an enclosing call runs."""
        for _, identity in reversed(enclosing):
            meaning = self._meanings.get(identity)
            if meaning is not None and meaning.kind is Kind.CALL:
                return meaning.module
        return ""

    def _settle(self) -> None:
        """What is known once all threads were read."""
        runtime = self._runtime
        for pool in runtime.pools.values():
            pool.sort()
        runtime.executions = executions.settled(runtime._created)
        executions.name_by_calls(runtime.executions, self._calls)
        executions.find_pools(runtime.executions, runtime.pools.values())
        executions.number(runtime.executions)


_MOST_CALLS = 200_000
_MOST_EXECUTIONS = (
    500_000  # a profiler stops at a million events by itself, of which an execution has several
)
_MOST_ENCLOSING = 5000  # deeper than Python's own stack goes: only damage nests like that
_DEEPEST = 60  # events around an allocation that are looked at for what it is for
