"""Which of several modules of one name an execution ran.

An execution asks the allocator for exactly the blocks of its plan that are no parameters (checked on captures of
real runs: 303 of 303 executions). So the sizes it asked for tell the module, and, after a failure, what was not
given any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from jaxlint.capture import plan
from jaxlint.capture.executions import Execution
from jaxlint.capture.modules import Module


def modules_of(execution: Execution, modules: Iterable[Module], *, failed: bool) -> list[Module]:
    """Those that the execution may have run: of its name, and with sizes that fit; else those of its name."""
    named = [module for module in modules if module.name == execution.module and module.planned]
    fitting = [m for m in named if fits(execution, plan.request_sizes(m.assignment), failed=failed)]
    return fitting or named


def fits(execution: Execution, sizes: Sequence[int], *, failed: bool) -> bool:
    """Whether an execution asked for these sizes in bytes, or, where it failed, for some of them."""
    asked = Counter(execution.requests)
    planned = Counter(sizes)
    return not asked - planned if failed else asked == planned


def missing(execution: Execution, sizes: Sequence[int]) -> int | None:
    """The first size in bytes that a failed execution was not given; None where that cannot be told."""
    left = Counter(execution.requests)
    if left - Counter(sizes):
        return None
    for size in sizes:
        if not left[size]:
            return size
        left[size] -= 1
    return None
