"""Captures of a GPU without a GPU: real memory plans, run by an allocator and a client that are simulated.

The allocator follows XLA's BFC allocator (best fit, chunks of 256 bytes, its rule when a chunk is split), and the
events are nested as the two generations of XLA's client nest them. No part of it knows the reader.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from capture.places import fixture

from jaxlint.capture import inputs, modules
from jaxlint.capture.written import Plane, space

MIB = 1 << 20
POOL = 2850 * MIB
OLD, NEW = "old", "new"


class Exhausted(Exception):
    """RESOURCE_EXHAUSTED."""


class Blocks:
    """Addresses and sizes: best fit among free pieces, which grow together again."""

    def __init__(self, limit: int, base: int = 0x7F00_0000_0000) -> None:
        self.limit = limit // 256 * 256
        self.free = [(base, self.limit)]
        self.used: dict[int, tuple[int, int]] = {}  # address -> requested, chunk
        self.in_use = self.peak = 0

    def allocate(self, requested: int) -> int | None:
        wanted = -(-requested // 256) * 256
        fitting = [piece for piece in self.free if piece[1] >= wanted]
        if not fitting:
            return None
        address, size = min(fitting, key=lambda piece: (piece[1], piece[0]))
        self.free.remove((address, size))
        if size >= 2 * wanted or size - wanted >= 128 * MIB:
            self.free.append((address + wanted, size - wanted))
            size = wanted
        self.used[address] = requested, size
        self.in_use += size
        self.peak = max(self.peak, self.in_use)
        return address

    def release(self, address: int) -> tuple[int, int]:
        requested, size = self.used.pop(address)
        self.in_use -= size
        merged: list[tuple[int, int]] = []
        for start, length in sorted([*self.free, (address, size)]):
            if merged and sum(merged[-1]) == start:
                merged[-1] = merged[-1][0], merged[-1][1] + length
            else:
                merged.append((start, length))
        self.free = merged
        return requested, size

    @property
    def fragmentation(self) -> float:
        left = self.limit - self.in_use
        return (left - max((size for _, size in self.free), default=0)) / left if left else 0.0


class Machine:
    """One device with its client. Nothing is recorded before `recording` is set."""

    def __init__(
        self,
        client: str,
        limit: int = POOL,
        *,
        retries: bool = True,
        plane: Plane | None = None,
        ordinal: int = 0,
    ) -> None:
        """`retries`: whether this version of the client shows that it waits for memory."""
        self.client, self.retries, self.ordinal = client, retries, ordinal
        self.plane = plane or Plane("/host:CPU")
        self.line = "python"
        self.several = False  # devices in the process
        self.blocks = Blocks(limit, 0x7F00_0000_0000 + (ordinal << 40))
        self.recording = False
        self.time = 5_000_000_000
        self.runs = 0

    @contextmanager
    def span(self, name: str, **stats: int | str) -> Iterator[None]:
        start = self.tick()
        try:
            yield
        finally:
            self.tick()
            if self.recording:
                self.plane.event(self.line, name, start, self.time - start, stats)

    def tick(self, picoseconds: int = 2_000_000) -> int:
        self.time += picoseconds
        return self.time

    def allocate(self, size: int) -> int:
        address = self.blocks.allocate(size)
        if address is None:
            start = self.tick()
            self.time += 10_000_000_000_000  # the allocator waits for ten seconds
            if self.recording and self.retries:
                self.plane.event(self.line, "AllocatorRetry::AllocateRaw", start, self.time - start)
            raise Exhausted(size)
        self._sample("MemoryAllocation", address, *self.blocks.used[address])
        return address

    def release(self, address: int) -> None:
        self._sample("MemoryDeallocation", address, *self.blocks.release(address))

    def _sample(self, name: str, address: int, requested: int, size: int) -> None:
        start = self.tick(300_000)
        if not self.recording:
            return
        blocks = self.blocks
        self.plane.event(
            self.line,
            name,
            start,
            0,
            {
                "allocator_name": f"GPU_{self.ordinal}_bfc",
                "bytes_reserved": 0,
                "bytes_allocated": blocks.in_use,
                "bytes_available": blocks.limit - blocks.in_use,
                "fragmentation": blocks.fragmentation,
                "peak_bytes_in_use": blocks.peak,
                "requested_bytes": requested,
                "allocation_bytes": size,
                "addr": address,
            },
        )

    def device_put(self, size: int) -> int:
        inner = "BufferFromHostBuffer"
        if self.client == OLD:
            inner = "PjRtStreamExecutorClient::LinearizeHostBufferInto"
        with self.span("DevicePut"), self.span(inner):
            return self.allocate(size)

    def execute(self, function: str, outputs: Sequence[int], temps: Sequence[int]) -> list[int]:
        """Run a module: where its new outputs are. Raises Exhausted, after giving back what it had."""
        self.runs += 1
        made: list[int] = []
        held: list[int] = []
        with ExitStack() as spans:
            for name in self._stages(function):
                spans.enter_context(self.span(name))
            try:
                self._allocate_and_launch(f"jit_{function}", outputs, temps, made, held)
            except Exhausted:
                for address in made + held:
                    self.release(address)
                raise
            for address in held:
                self.release(address)
        return made

    def _stages(self, function: str) -> list[str]:
        device = f"[{self.ordinal}] " if self.several else ""
        if self.client == OLD:
            outer = [] if self.several else [f"PjitFunction({function})", "PJRT_LoadedExecutable_Execute"]
            stages = ("Execute", "ExecuteHelper", "EnqueueExecution")
            return [*outer, *(f"PjRtStreamExecutorLoadedExecutable::{stage}" for stage in stages)]
        outer = [] if self.several else [f"PjitFunction({function})"]
        return [
            *outer,
            f"{device}CommonPjRtLoadedExecutable::Execute (jit_{function})",
            "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice",
        ]

    def _allocate_and_launch(
        self, module: str, outputs: Sequence[int], temps: Sequence[int], made: list[int], held: list[int]
    ) -> None:
        device = f"[{self.ordinal}] "
        if self.client == OLD:
            with self.span("Resolve constant globals"):
                pass
            with self.span("Build buffer allocations"):
                made.extend(self.allocate(size) for size in outputs)
                held.extend(self.allocate(size) for size in temps)
            self._launch("GpuExecutable::ExecuteThunks", module)
            return
        with self.span("AllocateOutputBuffersWithInputReuse"):
            made.extend(self.allocate(size) for size in outputs)
        with self.span(f"{device}PjRtStreamExecutorRawLoadedExecutable::Execute"):
            with self.span("Build buffer allocations"):
                held.extend(self.allocate(size) for size in temps)
            self._launch(f"{device}GpuExecutable::ExecuteThunks", module)

    def _launch(self, name: str, module: str) -> None:
        with self.span(name, module_name=module), self.span(f"{module}:XLA GPU module"):
            self.tick(50_000_000)


class Step:
    """What one execution of a scenario's module takes, from its real plan."""

    def __init__(self, scenario: str) -> None:
        with inputs.opened(fixture(scenario)) as data:
            module = modules.of_bytes("", data, 0, len(data))
            self.hlo = bytes(data[:])
            self.name = module.program.name
            blocks = module.assignment.allocations
        ordered = sorted((b for b in blocks if b.parameter), key=lambda b: b.parameter_number)
        self.parameters = [b.size for b in ordered]
        self.donated = {n for n, b in enumerate(ordered) if b.donated}
        self.outputs = [b.size for b in blocks if b.own_output]
        self.temps = [b.size for b in blocks if b.temporary and b.size]

    @property
    def function(self) -> str:
        return self.name.removeprefix("jit_")

    def metadata(self) -> bytes:
        plane = Plane("/host:metadata")
        plane.module(f"{self.name}(7)", 7, self.hlo)
        return plane.content()


def capture(machine: Machine, step: Step, *more: bytes) -> bytes:
    return space(step.metadata(), machine.plane.content(), *more)


def trained(
    scenario: str,
    client: str,
    *,
    steps: int = 3,
    limit: int = POOL,
    retries: bool = True,
    keep: bool = False,
    fragmented: bool = False,
    resident: int = 0,
    put_first: bool = False,
) -> bytes:
    """A training loop until it ends or runs out of memory, recorded once its state is there.

    `keep`: the program appends each step's outputs to a list. `fragmented`: the pool is full of blocks of which
    every second is freed. `resident`: bytes of another array, put there before or (`put_first`) within the capture.
    """
    step = Step(scenario)
    machine = Machine(client, limit, retries=retries)
    state = [machine.allocate(size) for size in step.parameters[:-1]]
    batch = machine.allocate(step.parameters[-1])
    if resident and not put_first:
        machine.allocate(resident)
    if fragmented:
        _fragment(machine)
    machine.recording = True
    kept: list[list[int]] = []
    try:
        if put_first:
            with machine.span("$data.py:12 load"):
                machine.device_put(resident)
        for _ in range(steps):
            fresh = machine.device_put(step.parameters[-1])
            machine.release(batch)
            batch = fresh
            new = machine.execute(step.function, step.outputs, step.temps)
            if keep:
                with machine.span("$<unknown> append"):
                    kept.append(new)
            elif not step.donated:
                for address in state:
                    machine.release(address)
                state = new
            else:
                for address in new:
                    machine.release(address)
            with machine.span("$array.py:643 block_until_ready"):
                machine.tick()
    except Exhausted:
        pass
    return capture(machine, step)


def _fragment(machine: Machine) -> None:
    taken: list[int] = []
    while (address := machine.blocks.allocate(64 * MIB)) is not None:
        taken.append(address)
    for address in taken[:-1:2]:
        machine.blocks.release(address)


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path
