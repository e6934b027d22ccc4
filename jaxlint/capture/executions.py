"""Executions of compiled modules, as a capture shows them."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable

from jaxlint.capture.lines import Line
from jaxlint.capture.pools import Pool

_NEVER = 1 << 62  # picoseconds
_MOST_CALLS = 200  # that began before an execution and are looked at


class Execution:
    """One execution on one device. Times in picoseconds, sizes in bytes."""

    __slots__ = (
        "allocator", "end", "last_request", "launched", "line", "module", "next_field", "number", "ordinal",
        "part", "requests", "retry_at", "start", "waited", "whole",
    )  # fmt: skip

    def __init__(
        self, start: int, end: int, line: Line, next_field: int, module: str, ordinal: int | None, part: bool
    ) -> None:
        """`next_field` is where the line goes on in the data, after this event. A part is a stage that ran on a
        thread of its own.
        """
        self.start, self.end, self.line, self.next_field = start, end, line, next_field
        self.module = module
        self.ordinal = ordinal
        self.launched = False
        self.waited = 0  # in the allocator, for memory
        self.retry_at: int | None = None
        self.last_request = start
        self.requests: list[int] = []  # what it was given, in order
        self.allocator = ""
        self.number = 0  # counts from 1 for each module and pool
        self.part = part
        self.whole = self  # what a part belongs to

    @property
    def failed_at(self) -> int:
        """When memory was missing, if it was: where it began to wait, or after the last that it was given."""
        return self.retry_at if self.retry_at is not None else self.last_request

    def take(self, part: Execution) -> None:
        """Add what another thread did for this execution."""
        self.launched = self.launched or part.launched
        self.module = self.module or part.module
        self.waited += part.waited
        self.retry_at = part.retry_at if self.retry_at is None else self.retry_at
        self.requests += part.requests
        self.allocator = self.allocator or part.allocator
        self.last_request = max(self.last_request, part.last_request)
        self.end = max(self.end, part.end)
        part.whole = self


def settled(created: Iterable[Execution]) -> list[Execution]:
    """The executions in the order of time, each once, with what other threads did for them."""
    ordered = sorted(created, key=lambda e: e.start)
    found = _without_covers([e for e in ordered if not e.part])
    for part in ordered:
        if part.part:
            _hand_over(part, found)
    return found


def _without_covers(executions: list[Execution]) -> list[Execution]:
    """With several devices one event covers those of all devices: it is not an execution of its own."""
    covered: dict[str, list[int]] = defaultdict(list)
    for execution in executions:
        if execution.ordinal is not None:
            covered[execution.module].append(execution.start)
    return [
        execution
        for execution in executions
        if execution.ordinal is not None
        or not any(execution.start <= start <= execution.end for start in covered.get(execution.module, ()))
    ]


def _hand_over(part: Execution, executions: list[Execution]) -> None:
    """A part belongs to the last execution before it that can be meant and has not launched yet."""
    for execution in reversed(executions):
        if execution.start > part.start or execution.launched:
            continue
        same_device = part.ordinal is None or execution.ordinal is None or part.ordinal == execution.ordinal
        same_module = not part.module or not execution.module or part.module == execution.module
        if same_device and same_module:
            execution.take(part)
            return


def name_by_calls(executions: Iterable[Execution], calls: Iterable[tuple[int, int, str]]) -> None:
    """Name those that failed on a thread of their own, before anything there named their module.

    Then it is that of the call (start, end, module) which was under way on the program's thread.
    """
    nameless = [execution for execution in executions if not execution.module]
    if not nameless:
        return
    ordered = sorted(calls)
    for execution in nameless:
        index = bisect_right(ordered, (execution.start, _NEVER, ""))
        for _, end, module in reversed(ordered[max(index - _MOST_CALLS, 0) : index]):
            if end >= execution.start:
                execution.module = module
                break


def find_pools(executions: Iterable[Execution], pools: Iterable[Pool]) -> None:
    """Those that allocated nothing use the pool of their device, of their thread, or the only one."""
    found = list(executions)
    device_pools = [pool for pool in pools if not pool.on_host]
    by_ordinal = {pool.ordinal: pool.name for pool in device_pools if pool.ordinal is not None}
    by_thread = {e.line: e.allocator for e in found if e.allocator}
    only = device_pools[0].name if len(device_pools) == 1 else ""
    for execution in found:
        if not execution.allocator:
            by_number = by_ordinal.get(execution.ordinal, "") if execution.ordinal is not None else ""
            execution.allocator = by_number or by_thread.get(execution.line, "") or only


def number(executions: Iterable[Execution]) -> None:
    """Count the executions of each module in each pool."""
    counts: Counter[tuple[str, str]] = Counter()
    for execution in executions:
        key = execution.module, execution.allocator
        counts[key] += 1
        execution.number = counts[key]
