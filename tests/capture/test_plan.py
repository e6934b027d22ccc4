"""Memory plans equal what the compiler itself says of them."""

from __future__ import annotations

import re

import pytest
from capture.places import FIXTURES, RUNS, SCENARIOS, analysis, fixture, public

from jaxlint.capture import inputs, modules
from jaxlint.capture.inputs import Kind
from jaxlint.capture.plan import Plan
from jaxlint.capture.roles import Role


def plan_in(path, name="") -> Plan:
    """The plan of a module, or of the largest one."""
    with inputs.opened(path) as data:
        if inputs.kind(path, data) is Kind.HLO:
            return modules.of_bytes(path.name, data, 0, len(data)).plan
        found = [m for m in modules.of_capture(data) if not name or m.name == name]
        return max(found, key=lambda m: m.totals.total).plan


def sizes(plan: Plan) -> dict[str, int]:
    """In the terms of memory_analysis()."""
    totals = plan.totals
    return {
        "argument": totals.parameters,
        "output": totals.outputs + totals.donated,
        "alias": totals.donated,
        "temp": totals.temp,
    }


@pytest.mark.parametrize("name", [*RUNS, *SCENARIOS])
def test_sizes_equal_memory_analysis(name):
    assert sizes(plan_in(fixture(name))) == analysis(name)


@pytest.mark.parametrize("name", ["plain", "donated", "remat"])
def test_other_captures_equal_their_memory_analysis(name):
    capture = public(f"cpu_{name}.xplane.pb")
    text = public(f"{name}.memory_analysis.txt").read_text()
    said = {part: int(re.search(rf"\b{part}_size_in_bytes=(\d+)", text)[1]) for part in analysis(name)}
    assert sizes(plan_in(capture, "jit_step")) == said


def test_heap_peaks_are_those_that_xprof_gives():
    """In bytes, and the event that reaches it, as the memory viewer of XProf 2.24 says."""
    expected = {
        "cpu_plain.xplane.pb": ("jit_step", 28903428, 155),
        "cpu_donated.xplane.pb": ("jit_step", 29765636, 206),
        "cpu_remat.xplane.pb": ("jit_step", 7669768, 148),
        "rocm_te_fused_attn.xplane.pb": ("jit_loss_fn", 319291468, 9),
        "rocm_jax_conv_08.xplane.pb": ("jit_forward_3d_conv", 579072000, 2),
        "rocm_jax08_attention.xplane.pb": ("jit_matmul", 134217728, 0),
    }
    found = {}
    for file, (name, _, _) in expected.items():
        plan = plan_in(public(file), name)
        found[file] = name, plan.heap_peak, plan.peak_event[0]
    assert found == expected


def test_roles_are_told_from_the_name_stack():
    plan = plan_in(fixture("plain"))
    assert list(plan.by_role()) == [Role.FORWARD, Role.BACKWARD]
    assert sum(plan.by_role().values()) == plan.heap_peak


def test_what_remat_computes_again_has_a_role_of_its_own():
    roles = plan_in(fixture("remat")).by_role()
    assert max(roles, key=roles.__getitem__) is Role.RECOMPUTED


def test_a_scan_stack_has_the_line_of_the_value_that_is_stacked():
    """Not the line of the scan, which every stack would have."""
    source = (FIXTURES / "train.py").read_text().splitlines()
    stacks = [buffer for buffer in plan_in(fixture("plain")).buffers if buffer.stacked]
    lines = {str(buffer.shape): source[buffer.frames[0].line - 1] for buffer in stacks}
    assert "softmax" in lines["f32[4,4,4,128,128]"]
    assert "gelu" in lines["f32[4,4,128,256]"]
    assert all(buffer.loop.startswith("while") for buffer in stacks)


def test_a_model_sized_scan_names_the_loop_that_carries_its_stacks():
    plan = plan_in(fixture("stacked"))
    largest = [buffer for buffer in plan.buffers if str(buffer.shape) == "bf16[32,4,4096,11008]"]
    assert len(largest) >= 2
    assert all(buffer.role is Role.FORWARD and buffer.stacked and buffer.loop for buffer in largest)
    assert plan.by_role()[Role.FORWARD] > 0.5 * plan.heap_peak


def test_attention_buffers_are_at_the_line_of_the_softmax():
    plan = plan_in(fixture("attention"))
    source = (FIXTURES / "scenarios.py").read_text().splitlines()
    square = [buffer for buffer in plan.buffers if str(buffer.shape) == "f32[8,8,1024,1024]"]
    assert len(square) >= 5
    assert any("softmax" in source[buffer.frames[0].line - 1] for buffer in square)
    assert plan.by_role()[Role.FORWARD] > 0.8 * plan.heap_peak


@pytest.mark.parametrize("name", [name for name in (*RUNS, *SCENARIOS) if name not in ("decode", "nodonate")])
def test_the_peak_can_be_worked_out_from_the_schedule(name):
    """As it has to be where XLA leaves no trace; here it is compared with the trace."""
    traced = plan_in(fixture(name))
    with inputs.opened(fixture(name)) as data:
        if name in RUNS:
            [module] = modules.of_capture(data)
        else:
            module = modules.of_bytes("", data, 0, len(data))
        module.assignment.traces.clear()
        worked_out = module.plan
    assert traced.traced and not worked_out.traced
    assert worked_out.heap_peak == pytest.approx(traced.heap_peak, rel=0.015)
    assert next(iter(worked_out.by_role())) == next(iter(traced.by_role()))
    largest = {(str(b.shape), b.role) for b in traced.buffers[:4]}
    assert largest <= {(str(b.shape), b.role) for b in worked_out.buffers}


def test_a_plan_without_a_temporary_heap_has_no_peak():
    plan = plan_in(fixture("decode"))
    assert plan.totals.temp == 0
    assert plan.heap_peak is None
