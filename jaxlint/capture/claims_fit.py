"""Whether the last execution fits: its plan against the pool, and what was free when it failed."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.capture.case import Case
from jaxlint.capture.claim import Basis, Claim, Remedy
from jaxlint.capture.plan import Totals
from jaxlint.capture.pools import Pool
from jaxlint.capture.sizes import shown
from jaxlint.capture.subject import Subject

_FRACTION = "XLA_PYTHON_CLIENT_MEM_FRACTION"


def missing_events(pool: Pool | None) -> Iterator[Claim]:
    """Events were dropped: what follows are bounds."""
    if pool is not None and pool.breaks:
        yield Claim(
            "events-missing",
            Basis.MEASURED,
            f"allocator events are missing: bytes in use do not follow from event to event at {pool.breaks} of"
            f" {len(pool.times)}, so the numbers of the runtime part are bounds",
            cause="the profiler keeps about a million events and drops what comes after",
            remedies=(Remedy("capture fewer steps, or without Python calls", None, "another run"),),
        )


def never_launched(subject: Subject, case: Case | None) -> Iterator[Claim]:
    """The failure itself."""
    last = subject.last
    if last is None or not subject.failed:
        return
    waited = f"; it waited {last.waited / 1e12:.1f} s for memory (AllocatorRetry)" if last.waited else ""
    yield Claim(
        "never-launched",
        Basis.MEASURED,
        f"the last execution of {last.module or 'a module'} (number {last.number}) never launched a kernel{waited}",
        cause="it ran out of memory inside the capture",
    )
    refused = case.refused if case is not None else None
    if case is not None and refused is not None:
        temp = refused in _temporaries(case) and refused != 0
        what = "its temp block" if temp else "one of its outputs"
        yield Claim(
            "refused-request",
            Basis.INFERRED,
            f"what it was not given is {what}, {shown(refused)} ({refused} bytes): the first size of its plan that"
            " was not allocated",
            cause="the number is the one in the error message",
        )


def waits(subject: Subject) -> Iterator[Claim]:
    """Memory was short for something that is no execution."""
    longest = max(subject.runtime.waits, key=lambda wait: wait.seconds, default=None)
    if longest is not None:
        yield Claim(
            "waited-outside",
            Basis.MEASURED,
            f"outside of any execution the allocator waited {longest.seconds:.1f} s for memory: {longest.origin}",
            cause="an array of the program itself did not fit, before a step could ask for anything",
            rules=("JAX314",) if "Put" in longest.origin or "BufferFromHost" in longest.origin else (),
        )


def _temporaries(case: Case) -> list[int]:
    choice = case.subject.choice
    blocks = choice.module.assignment.allocations if choice is not None else []
    return [block.size for block in blocks if block.temporary]


def without_pool(subject: Subject) -> Iterator[Claim]:
    """No allocator event: nothing can be said of the pool."""
    if subject.pool is not None or subject.runtime.tpus:
        return
    if not subject.runtime.events:
        yield Claim(
            "plan-only",
            Basis.MEASURED,
            "this is a plan alone: what the pool holds and what else was in it is not known here",
            cause="a module or a dump has no runtime part",
        )
        return
    yield Claim(
        "no-allocator-events",
        Basis.MEASURED,
        "the capture has no allocator events, so whether the step fits is not known",
        cause="CPU clients record none; on a GPU they need the BFC allocator and a host tracer level of 2",
        remedies=(
            Remedy(
                "ProfileOptions.host_tracer_level = 2, no XLA_PYTHON_CLIENT_ALLOCATOR", None, "another run"
            ),
        ),
    )


def on_tpu(subject: Subject) -> Iterator[Claim]:
    """A capture of a TPU: what its devices say ran, and that nothing more can be known."""
    tpus = subject.runtime.tpus
    if not tpus:
        return
    chosen = subject.choice.module.name if subject.choice is not None else ""
    counts = [device.ran[chosen] for device in tpus if device.ran[chosen]]
    ran = f"{chosen} ran {max(counts)} times on {len(counts)} of {len(tpus)} TPUs" if counts else ""
    modules = len({name for device in tpus for name in device.ran})
    other = f"{modules} modules ran on {len(tpus)} TPUs" if modules else f"{len(tpus)} TPUs are in it"
    yield Claim(
        "on-tpu",
        Basis.MEASURED,
        f"a capture of a TPU: {ran or other}. What was in use when an execution began, and whether one failed, is"
        " not in it: only the plan can be read",
        cause="a TPU's runtime takes memory on the device, and records no allocator's events on the host",
        remedies=(
            Remedy("`jax.profiler.save_device_memory_profile` for what is live (--memory-prof)", None, ""),
            Remedy("jaxlint check --target, for the plan on that generation of TPU", None, ""),
        ),
        function=chosen.removeprefix("jit_"),
    )


def without_plan(subject: Subject) -> Iterator[Claim]:
    """No plan: only the runtime part speaks."""
    if subject.choice is None:
        yield Claim(
            "no-plan",
            Basis.MEASURED,
            "the capture holds no compiled module with a memory plan: only its runtime part can be read",
            cause="HLO protos were not recorded, or the profiler lost them"
            + (
                ": on a TPU a compilation for the CPU loses them (jax issue 37533)"
                * bool(subject.runtime.tpus)
            ),
            remedies=(Remedy("give the XLA dump directory (--xla_dump_to) instead", None, "another run"),),
        )


def fit(case: Case) -> Iterator[Claim]:
    """The plan against the pool."""
    capacity, plan, need = case.capacity, case.plan, case.subject.need
    if capacity is None:
        return
    if case.too_big:
        yield Claim(
            "plan-too-big",
            Basis.MEASURED,
            f"the step itself does not fit: its plan needs {shown(plan.totals.total)}, the pool has"
            f" {shown(capacity)} ({_parts(plan.totals)})",
            cause="the plan alone exceeds the pool, whatever else is in it",
            remedies=(
                case.remedy(
                    f"a larger pool ({_FRACTION}), if the device has the memory", None, "none where it has"
                ),
            ),
            function=case.function,
        )
    elif case.crowded and need is not None and case.subject.in_use is not None:
        over = need > capacity
        yield Claim(
            "crowded",
            Basis.MEASURED,
            f"the plan, {shown(plan.totals.total)}, fits into {shown(capacity)}, but {shown(case.subject.in_use)}"
            f" was in use when the last execution started: it needs {shown(need)}"
            + ("" if over else ", which the pool has in bytes"),
            cause="other arrays take the room" if over else "the room is there, but not in one piece",
            function=case.function,
        )
    elif need is not None:
        yield Claim(
            "fits",
            Basis.MEASURED,
            f"fits: the last execution needs {shown(need)} of {shown(capacity)}",
            function=case.function,
        )


def contiguity(case: Case) -> Iterator[Claim]:
    """Bytes are not enough: the allocator needs one piece for each request."""
    free = case.free
    if free is not None:
        yield Claim(
            "free-at-failure",
            Basis.MEASURED,
            f"when it failed {shown(free.total)} was free, the largest piece of it {shown(free.largest)}",
        )
        wanted = case.refused or max(case.plan.request_sizes, default=0)
        if free.total >= wanted > free.largest:
            yield Claim(
                "fragmented",
                Basis.INFERRED,
                f"fragmentation: a block of {shown(wanted)} fits into the free bytes, but not into one piece",
                cause="long-lived arrays lie between pieces that were freed",
                remedies=(
                    case.remedy(
                        "allocate what stays (state, constants) before what comes and goes", None, "order"
                    ),
                    case.remedy("a smaller temp block: remat or micro-batches", None, "see above"),
                    case.remedy("XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async on CUDA", None, "slower allocations"),
                ),
                function=case.function,
            )
    elif case.near and case.capacity is not None and case.subject.need is not None:
        left = case.capacity - case.subject.need
        yield Claim(
            "near",
            Basis.INFERRED,
            f"it just fits, with {shown(left)} to spare: the pieces that are free may be too small for the temp"
            " block",
            cause="the comparison is of bytes, and the allocator needs one piece",
            function=case.function,
        )


def earlier_peak(pool: Pool | None) -> Iterator[Claim]:
    """A peak that the capture did not see."""
    if pool is not None and pool.lifetime_peak > max(pool.peak * 1.02, pool.peak + (1 << 20)):
        yield Claim(
            "earlier-peak",
            Basis.MEASURED,
            f"the peak of the process, {shown(pool.lifetime_peak)}, lies outside of the capture, whose own is"
            f" {shown(pool.peak)}",
            cause="before the first step it is loading, compiling or autotuning",
        )


def rematerialized(case: Case) -> Iterator[Claim]:
    """XLA has tried already."""
    if case.plan.rematerialized:
        yield Claim(
            "rematerialized",
            Basis.MEASURED,
            f"XLA already computes {case.plan.rematerialized} instructions twice to save memory",
            cause="its own rematerialisation ran against the limit of the device",
            remedies=(Remedy("expect the fix from the program, not from XLA", None, ""),),
            function=case.function,
        )


def _parts(totals: Totals) -> str:
    parts = (
        f"parameters {shown(totals.parameters)} + outputs {shown(totals.outputs)} + temp {shown(totals.temp)}"
    )
    return parts + (f" + constants {shown(totals.constants)}" if totals.constants >= 1 << 20 else "")
