"""Allocator events and executions, on real captures where somebody has them, and on simulated ones."""

from __future__ import annotations

from collections import Counter

import pytest
from capture import simulated
from capture.places import public
from capture.simulated import MIB, NEW, OLD, Machine, Step

from jaxlint.capture import host_events, inputs, load, matching, modules, runtime
from jaxlint.capture.host_events import Kind
from jaxlint.capture.written import space

ROCM = [
    "rocm_te_fused_attn.xplane.pb",
    "rocm_jax08_attention.xplane.pb",
    "rocm_jax08_elementwise.xplane.pb",
    "rocm_jax_conv_08.xplane.pb",
]


@pytest.mark.parametrize("file", ROCM)
def test_real_allocators_follow_their_own_rules(file):
    with inputs.opened(public(file)) as data:
        found = runtime.read(data)
    assert found.pools
    for pool in found.pools.values():
        assert pool.breaks == 0
        assert all(size % 256 == 0 for size in pool.sizes)
        totals = {in_use + free for in_use, free in zip(pool.in_use, pool.available, strict=True)}
        assert totals == {pool.capacity}


@pytest.mark.parametrize("file", ROCM)
def test_real_executions_ask_for_the_sizes_of_their_plan(file):
    with inputs.opened(public(file)) as data:
        found = runtime.read(data)
        planned = list(modules.of_capture(data))
        for execution in found.executions:
            assert execution.launched and not found.failed(execution)
            fitting = matching.modules_of(execution, planned, failed=False)
            assert fitting
            assert any(
                Counter(execution.requests) == Counter(module.plan.request_sizes) for module in fitting
            )


@pytest.mark.parametrize(
    ("file", "executions", "events", "capacity", "peak"),
    [
        ("rocm_te_fused_attn.xplane.pb", 5, 59, 299_944_250_900, 663_228_416),
        ("rocm_jax08_attention.xplane.pb", 81, 252, 154_606_239_744, 452_985_344),
    ],
)
def test_real_pools_have_the_numbers_that_xprof_gives(file, executions, events, capacity, peak):
    with inputs.opened(public(file)) as data:
        found = runtime.read(data)
    pool = found.device_pools()[0]
    assert len(found.executions_in(pool)) == executions
    assert len(pool.times) == events
    assert pool.peak == peak
    assert abs(pool.capacity - capacity) < MIB


def test_need_is_the_peak_that_was_measured():
    [found] = load.reports(public("rocm_jax_conv_08.xplane.pb"), load.Wanted())
    assert found.need == pytest.approx(found.pools[0].peak, abs=1024)
    assert len(found.pools) == 8


@pytest.mark.parametrize(
    ("name", "kind", "module", "ordinal"),
    [
        ("MemoryAllocation", Kind.ALLOCATION, "", None),
        ("AllocatorRetry::AllocateRaw", Kind.RETRY, "", None),
        ("PjRtStreamExecutorLoadedExecutable::EnqueueExecution", Kind.EXECUTION, "", None),
        ("PjRtStreamExecutorExecutable::EnqueueExecution", Kind.EXECUTION, "", None),
        ("CommonPjRtLoadedExecutable::Execute (jit_step)", Kind.EXECUTION, "jit_step", None),
        ("[3] CommonPjRtLoadedExecutable::Execute (jit_step)", Kind.EXECUTION, "jit_step", 3),
        ("CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice", Kind.PLAIN, "", None),
        ("jit_step:XLA GPU module", Kind.LAUNCH, "jit_step", None),
        ("[2] GpuExecutable::ExecuteThunks", Kind.LAUNCH, "", 2),
        ("ThunkExecutor::Execute", Kind.PLAIN, "", None),
    ],
)
def test_names_of_both_generations_are_understood(name, kind, module, ordinal):
    assert host_events.meaning(name) == (kind, module, ordinal)


def _devices(client: str, failing: int | None) -> bytes:
    """Two devices in one process, a thread for each; one may be too small."""
    step = Step("fits")
    plane = None
    for ordinal in range(2):
        machine = Machine(client, (120 if ordinal == failing else 600) * MIB, plane=plane, ordinal=ordinal)
        machine.several, machine.line = True, f"py_xla_execute/{ordinal}"
        plane = machine.plane
        for size in step.parameters:
            machine.allocate(size)
        machine.recording = True
        try:
            for _ in range(3):
                for address in machine.execute(step.function, step.outputs, step.temps):
                    machine.release(address)
        except simulated.Exhausted:
            pass
    plane.event("python", f"PjitFunction({step.function})", 4_000_000_000, 20_000_000_000_000)
    return space(step.metadata(), plane.content())


@pytest.mark.parametrize("client", [OLD, NEW])
def test_the_tightest_of_several_devices_comes_first(client, tmp_path):
    path = simulated.write(tmp_path / "host.xplane.pb", _devices(client, failing=1))
    [found] = load.reports(path, load.Wanted())
    assert [pool.name for pool in found.pools] == ["GPU_1_bfc", "GPU_0_bfc"]
    assert len(found.executions) == 1 and found.failed
    [other] = load.reports(path, load.Wanted(device=0))
    assert other.pools[0].name == "GPU_0_bfc"
    assert len(other.executions) == 3 and not other.failed


@pytest.mark.parametrize("client", [OLD, NEW])
def test_a_stage_on_another_thread_belongs_to_its_execution(client, tmp_path):
    """What launches and allocates elsewhere is no failure and no execution of its own."""
    machine = Machine(client)
    machine.recording = True
    outer = "CommonPjRtLoadedExecutable::Execute (jit_step)"
    machine.plane.event("python", outer, 5_000_000_000, 1_000_000)
    machine.time, machine.line = 5_010_000_000, "worker"
    with machine.span("[0] PjRtStreamExecutorRawLoadedExecutable::Execute"):
        address = machine.allocate(4 * MIB)
        machine._launch("[0] GpuExecutable::ExecuteThunks", "jit_step")
    machine.release(address)
    path = simulated.write(tmp_path / "host.xplane.pb", space(machine.plane.content()))
    with inputs.opened(path) as data:
        found = runtime.read(data)
    [execution] = found.executions
    assert execution.launched and execution.requests == [4 * MIB] and execution.allocator == "GPU_0_bfc"


def test_events_that_are_not_sorted_are_read_all_the_same(tmp_path):
    """Enclosing events may come after what they enclose: they are written when they end."""
    step, machine = Step("fits"), Machine(NEW)
    for size in step.parameters:
        machine.allocate(size)
    machine.recording = True
    for _ in range(3):
        machine.release(machine.device_put(MIB))
        for address in machine.execute(step.function, step.outputs, step.temps):
            machine.release(address)
    content = [simulated.capture(machine, step)]
    machine.plane._lines["python"].reverse()
    content.append(machine.plane.content(ordered=False))
    reports = []
    for number, planes in enumerate((content[0], space(step.metadata(), content[1]))):
        path = simulated.write(tmp_path / f"{number}.xplane.pb", planes)
        [found] = load.reports(path, load.Wanted())
        reports.append([(e.number, e.in_use, e.failed) for e in found.executions])
    assert reports[0] == reports[1] and len(reports[0]) == 3


def test_missing_events_are_noticed(tmp_path):
    step, machine = Step("fits"), Machine(NEW)
    machine.recording = True
    for _ in range(3):
        machine.allocate(MIB)
        machine.recording = not machine.recording
    machine.recording = True
    machine.allocate(MIB)
    path = simulated.write(tmp_path / "host.xplane.pb", simulated.capture(machine, step))
    [found] = load.reports(path, load.Wanted())
    assert found.claims[0].slug == "events-missing"
    assert found.pools[0].breaks == 1
