"""One capture, or one module's plan: what a report is about."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from jaxlint.capture import matching, modules, runtime, wire, xspace
from jaxlint.capture.error import Absent
from jaxlint.capture.executions import Execution
from jaxlint.capture.modules import Module
from jaxlint.capture.plan import Plan
from jaxlint.capture.pools import Pool
from jaxlint.capture.runtime import Holding, Runtime


class Choice(NamedTuple):
    """The module that is broken down, and why this one."""

    module: Module
    reason: str


class Subject:
    """A capture with its choice of module and device. Raises wire.Damaged where its parts are read."""

    def __init__(
        self,
        path: Path,
        modules: Sequence[Module],
        runtime: Runtime | None = None,
        *,
        data: wire.Data = b"",
        host: str = "",
        wanted: str | None = None,
        device: int | None = None,
    ) -> None:
        self.path = path
        self.host = host
        self.modules = list(modules)
        self.runtime = runtime or Runtime()
        self._data = data
        self._wanted, self._device = wanted, device

    @cached_property
    def pool(self) -> Pool | None:
        """The pool of the device that was asked for, or the tightest one. Raises Absent."""
        found = self.runtime.device_pools()
        if self._device is None:
            return found[0] if found else None
        for pool in found:
            if pool.ordinal == self._device:
                return pool
        others = (str(p.ordinal) for p in found if p.ordinal is not None)
        raise Absent(self.path, f"allocator events of device {self._device}", others, "there are those of")

    @cached_property
    def choice(self) -> Choice | None:
        """The module that was asked for; else the one whose last execution failed; else the largest that ran.

        Raises Absent where the one that was asked for is not there.
        """
        if self._wanted is not None:
            return Choice(self._find(self._wanted), "as asked for")
        planned = [module for module in self.modules if module.planned]
        if not planned:
            return None
        failed = self._failed_last(planned)
        if failed:
            return Choice(_largest(failed), "its last execution never launched")
        on_tpus = {name for device in self.runtime.tpus for name in device.ran}
        names = {execution.module for execution in self.runtime.executions} or on_tpus or self.runtime.called
        ran = [module for module in planned if module.name in names]
        if ran:
            return Choice(_largest(ran), "the largest that ran")
        return Choice(_largest(planned), "the largest")

    def _find(self, wanted: str) -> Module:
        planned = [module for module in self.modules if module.planned]
        names = {wanted, f"jit_{wanted}", f"pmap_{wanted}"}
        found = [module for module in planned if names & {module.title, module.name}]
        if found:
            return _largest(found)
        raise Absent(self.path, f"module {wanted} with a memory plan", (module.title for module in planned))

    def _failed_last(self, planned: Sequence[Module]) -> list[Module]:
        """The modules that the last failed execution may have run, if no later one of its name launched."""
        last: dict[tuple[str, str], Execution] = {}
        for execution in self.runtime.executions:
            last[execution.module, execution.allocator] = execution
        failed = [e for e in last.values() if self.runtime.failed(e)]
        failed.sort(key=lambda e: (self.pool is not None and e.allocator == self.pool.name, e.start))
        return matching.modules_of(failed[-1], planned, failed=True) if failed else []

    @cached_property
    def plan(self) -> Plan | None:
        return self.choice.module.plan if self.choice is not None else None

    @cached_property
    def executions(self) -> list[Execution]:
        """Those of the chosen module on the chosen device, in the order of time."""
        if self.pool is None:
            return []
        if self.choice is None:
            return self.runtime.executions_in(self.pool)
        found = self.runtime.executions_in(self.pool, self.choice.module.name)
        if sum(module.name == self.choice.module.name for module in self.modules) < 2:
            return found
        sizes = self.choice.module.plan.request_sizes
        return [e for e in found if matching.fits(e, sizes, failed=self.runtime.failed(e))]

    @property
    def last(self) -> Execution | None:
        """The last execution of the chosen module."""
        return self.executions[-1] if self.executions else None

    @property
    def failed(self) -> bool:
        """Whether that never launched."""
        return self.last is not None and self.runtime.failed(self.last)

    @property
    def in_use(self) -> int | None:
        """Bytes in use when it began."""
        return (
            self.pool.in_use_at(self.last.start) if self.pool is not None and self.last is not None else None
        )

    @property
    def need(self) -> int | None:
        """Bytes that have to be there for it: what is in use, its outputs and its temp block."""
        if self.plan is None or self.in_use is None:
            return None
        return self.in_use + self.plan.totals.claims

    @cached_property
    def between(self) -> list[tuple[str, int]]:
        """Host events between the last two executions, with how often."""
        if len(self.executions) < 2:
            return []
        return runtime.between(self._data, *self.executions[-2:])

    @cached_property
    def holdings(self) -> list[Holding]:
        """What lived when the last execution began, or at the end of a capture without one; largest first."""
        if self.pool is None or not self.pool.times:
            return []
        time = self.last.start if self.last is not None else self.pool.times[-1] + 1
        return self.runtime.holdings(self.pool, time)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to report."""
        return not any(module.planned for module in self.modules) and not self.runtime.pools


def of_capture(path: Path, data: wire.Data, wanted: str | None, device: int | None) -> Subject:
    """A profiler capture. Raises wire.Damaged."""
    return Subject(
        path,
        list(modules.of_capture(data)),
        runtime.read(data),
        data=data,
        host=", ".join(xspace.hostnames(data)),
        wanted=wanted,
        device=device,
    )


def of_module(path: Path, data: wire.Data, wanted: str | None) -> Subject:
    """A file that holds one module with its buffer assignment. Raises wire.Damaged."""
    module = modules.of_bytes("", data, 0, len(data))
    module.title = module.program.name or path.name
    return Subject(path, [module], wanted=wanted)


def _largest(found: Sequence[Module]) -> Module:
    return max(found, key=lambda module: (module.totals.total, module.title))
