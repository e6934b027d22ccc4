"""What kind of run it was: single operations instead of a step, a peak from before anything ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from jaxlint.capture.claim import Basis, Claim, Remedy
from jaxlint.capture.modules import Module
from jaxlint.capture.sizes import shown
from jaxlint.capture.subject import Subject

_OPERATIONS = 8  # different ones: fewer are what any program does around its step
_MOST = 0.8  # of all executions
_SMALL = 1 << 16  # bytes of a module that is looked into
_PLUMBING = frozenset(
    {"parameter", "tuple", "get-tuple-element", "bitcast", "constant", "copy", "copy-start", "copy-done"}
)


def operation_by_operation(subject: Subject) -> Iterator[Claim]:
    """Most executions are of modules of one operation: what runs outside jit."""
    ran = Counter(execution.module for execution in subject.runtime.executions if execution.module)
    single = {m.name for m in subject.modules if m.name in ran and m.size < _SMALL and _is_single(m)}
    times = sum(ran[name] for name in single)
    if len(single) < _OPERATIONS or times < _MOST * ran.total():
        return
    often = ", ".join(name for name, _ in ran.most_common() if name in single and name[:4] == "jit_")
    yield Claim(
        "operation-by-operation",
        Basis.MEASURED,
        f"{times} of {ran.total()} executions are of modules with a single operation ({_cut(often)}): the plan"
        " of one says little, the runtime part more",
        cause="outside of jit each operation allocates its result, which lives as long as Python holds it",
        remedies=(Remedy("put the step under jax.jit, so that XLA plans it as a whole", None, ""),),
    )


def _is_single(module: Module) -> bool:
    program = module.program
    entry = program.of_computation(program.entry)
    return sum(instruction.opcode not in _PLUMBING for instruction in entry) <= 1


def _cut(names: str) -> str:
    return names if len(names) <= 60 else names[:60].rpartition(",")[0] + ", …"


def peak_before_running(subject: Subject) -> Iterator[Claim]:
    """The peak of the capture lies before its first execution."""
    pool, runtime = subject.pool, subject.runtime
    first = min((e.start for e in runtime.executions if pool and e.allocator == pool.name), default=None)
    if pool is None or first is None or subject.failed or not pool.times:
        return
    before = max((used for at, used in zip(pool.times, pool.in_use, strict=True) if at < first), default=0)
    after = max((used for at, used in zip(pool.times, pool.in_use, strict=True) if at >= first), default=0)
    if before > max(after * 1.02, after + (1 << 20)):
        yield Claim(
            "peak-before-running",
            Basis.MEASURED,
            f"the peak, {shown(before)}, lies before the first execution; from then on it is {shown(after)}",
            cause="before the first step it is loading, compiling or autotuning: leave headroom for it",
        )
