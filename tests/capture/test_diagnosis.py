"""Each row of the diagnosis, on real plans whose run is simulated, for both generations of the client."""

from __future__ import annotations

import pytest
from capture import made, simulated
from capture.places import FIXTURES, fixture, public
from capture.simulated import MIB, NEW, OLD, trained

from jaxlint.capture import load, text_report
from jaxlint.capture.claim import Basis, Claim
from jaxlint.capture.report import Report
from jaxlint.capture.text_report import CONFIRM

CLIENTS = pytest.mark.parametrize("client", [OLD, NEW])


@pytest.fixture
def report(tmp_path):
    """Reads the content of a capture."""

    def read(content: bytes, **wanted) -> Report:
        path = simulated.write(tmp_path / "host.xplane.pb", content)
        [found] = load.reports(path, load.Wanted(**wanted))
        assert isinstance(found, Report), found
        return found

    return read


def claims(report: Report) -> dict[str, Claim]:
    return {claim.slug: claim for claim in report.claims}


def fixture_report(name: str) -> Report:
    [found] = load.reports(fixture(name), load.Wanted())
    assert isinstance(found, Report)
    return found


# ---------------------------------------------------------------- the step itself does not fit


@CLIENTS
def test_an_attention_plan_that_is_too_big(report, client):
    found = report(trained("attention", client))
    said = claims(found)
    assert said["plan-too-big"].basis is Basis.MEASURED
    assert found.plan.totals.total == 3_405_774_892 > found.pools[0].capacity
    assert found.need == found.in_use + found.plan.totals.outputs + found.plan.totals.temp
    assert "80%" < said["peak-forward"].text.partition("MiB, ")[2] < "90%"
    assert said["peak-forward"].rules == ("JAX310",)
    scores = said["attention-scores"]
    assert scores.basis is Basis.INFERRED and scores.rules == ("JAX313",)
    assert "f32[8,8,1024,1024]" in scores.text
    source = (FIXTURES / "scenarios.py").read_text().splitlines()
    assert "softmax" in source[scores.frames[0].line - 1]


@CLIENTS
def test_the_last_execution_waited_and_never_launched(report, client):
    found = report(trained("attention", client))
    said = claims(found)
    assert "waited 10.0 s" in said["never-launched"].text
    assert f"({found.plan.totals.temp} bytes)" in said["refused-request"].text
    assert "temp block" in said["refused-request"].text


@CLIENTS
def test_a_failure_shows_without_the_event_of_the_waiting_allocator(report, client):
    """Versions of the client differ in whether they record it."""
    found = report(trained("attention", client, retries=False))
    assert found.failed
    assert claims(found)["never-launched"].text.endswith("never launched a kernel")
    assert found.free is not None and found.free[0] == 2802 * MIB - 512  # two small outputs


def test_what_xla_computed_twice_itself_is_counted(report):
    assert "19 instructions" in claims(report(trained("attention", NEW)))["rematerialized"].text


def test_remedies_are_compared_with_what_is_missing(report):
    remedies = claims(report(trained("attention", NEW)))["peak-forward"].remedies
    checkpoint = next(r for r in remedies if "on the block" in r.action)
    assert checkpoint.enough and checkpoint.cost
    kept = sum(b.size for b in fixture_report("attention").plan.buffers if b.role == "forward")
    assert checkpoint.saving == kept
    batches = next(r for r in remedies if "micro-batches" in r.action)
    assert batches.enough and batches.saving < kept


def test_half_the_length_saves_three_quarters_of_the_scores(report):
    said = claims(report(trained("attention", NEW)))["attention-scores"]
    shorter = next(r for r in said.remedies if "length" in r.action)
    assert shorter.saving == 10 * 256 * MIB * 3 // 4


def test_a_peak_of_gradients_is_told_to_shard(report):
    said = claims(report(trained("backward_heavy", NEW, limit=700 * MIB)))
    assert "plan-too-big" in said
    assert "100% is backward" in said["peak-backward"].text
    assert any("FSDP" in remedy.action for remedy in said["peak-backward"].remedies)


@pytest.mark.parametrize(("forward", "backward"), [(1, 4), (2, 4), (3, 3)])
def test_gradients_of_activations_are_not_told_to_shard(report, forward, backward):
    said = claims(report(made.capture(made.trained_convolution(forward, backward), limit=100 * MIB)))
    actions = [r.action for claim in said.values() for r in claim.remedies]
    assert "peak-backward" in said
    assert not any("FSDP" in action for action in actions)
    [batches] = [r for claim in said.values() for r in claim.remedies if "micro-batches" in r.action]
    assert batches.saving == (forward + backward) * 16 * MIB // 2
    assert any("jax.checkpoint on the block" in action for action in actions) == (forward > 1)


def test_a_mixed_peak_is_told_to_shard_only_what_has_the_shape_of_a_parameter(report):
    gradient = made.Buffer(
        "dot.1", "dot", "jit(step)/transpose(jvp())/dot_general", made.F32, (4096, 2048), 32 * MIB
    )
    parameter = gradient._replace(
        name="w", opcode="parameter", op_name="w", dimensions=(2048, 4096), parameter=True
    )
    batch = made.trained_convolution(0, 3)[1:-1]
    new = gradient._replace(
        name="subtract.1", opcode="subtract", op_name="jit(step)/sub", dimensions=(2048, 4096)
    )
    said = claims(report(made.capture((parameter, *batch, gradient, new), limit=140 * MIB)))
    remedies = {r.action.partition(" ")[0]: r.saving for r in said["peak-backward"].remedies}
    assert remedies["shard"] == 16 * MIB
    assert remedies["2"] == 24 * MIB


def test_workspace_of_libraries_has_its_own_line(report):
    said = claims(report(made.capture(made.WORKSPACE, limit=100 * MIB)))
    assert "workspace" in said["peak-workspace"].text
    assert "hipBLASLt" in said["peak-workspace"].remedies[0].action


def test_wide_copies_of_narrow_gradients_are_named(report):
    said = claims(report(made.capture(made.WIDE_GRADIENTS, limit=100 * MIB)))
    assert said["wide-gradients"].rules == ("JAX603",)


# ---------------------------------------------------------------- growth from step to step


@CLIENTS
def test_outputs_that_are_kept_grow_by_themselves(report, client):
    found = report(trained("kept_grads", client, steps=40, keep=True))
    said = claims(found)
    assert found.plan.totals.total < found.pools[0].capacity
    assert [round(e.in_use / MIB) for e in found.executions][:3] == [136, 240, 344]
    assert "104.0 MiB per execution, = 1.00x" in said["grows"].text
    assert said["grows"].basis is Basis.MEASURED and said["grows"].rules == ("JAX308",)
    assert "$<unknown> append" in said["holder"].text
    assert "crowded" in said and "other-arrays" not in said


@CLIENTS
def test_what_is_live_is_named_by_the_execution_that_made_it(report, client):
    found = report(trained("kept_grads", client, steps=40, keep=True))
    live = {holding.what: holding.size for holding in found.holdings}
    chunks = [-(-size // 256) * 256 for size in simulated.Step("kept_grads").outputs]
    assert live["outputs of jit_train_step execution 1"] == sum(chunks)
    assert live["allocated before the capture started"] == 104 * MIB
    assert live["DevicePut" if client == OLD else "BufferFromHostBuffer"] == 32 * MIB
    assert sum(live.values()) == found.in_use


def test_growth_that_has_not_ended_yet_is_extrapolated(report):
    found = report(trained("kept_grads", NEW, steps=6, keep=True))
    said = claims(found)
    assert not found.failed
    left = (found.pools[0].capacity - found.need) // (104 * MIB)
    assert f"full after {left + 1} more" in said["end-in-sight"].text


@CLIENTS
def test_a_smaller_plan_only_puts_the_end_of_a_leak_off(report, client):
    """Execution 18 fails. With so much less in the plan it would be a later one: that many later."""
    found = report(trained("kept_grads", client, steps=40, keep=True))
    said = claims(found)
    [end] = said["grows"].remedies
    assert end.enough and end.puts_off is None
    others = [r for claim in found.claims if claim.slug != "grows" for r in claim.remedies]
    assert others and all(r.enough is None for r in others)
    checkpoint = next(r for r in others if "on the block" in r.action)
    capacity = found.pools[0].capacity
    runs = [n for n in range(99) if 136 * MIB + n * 104 * MIB + 968 * MIB - checkpoint.saving <= capacity]
    assert checkpoint.puts_off == len(runs) - 17
    text = "\n".join(text_report.lines(found, 10))
    assert f"only puts the failure off, by {checkpoint.puts_off} more executions" in text
    assert text.count("enough to fit") == 1


def test_a_loop_that_keeps_nothing_does_not_grow(report):
    assert "grows" not in claims(report(trained("kept_grads", NEW, steps=6)))


# ---------------------------------------------------------------- donation


@CLIENTS
def test_a_step_that_donates_nothing(report, client):
    found = report(trained("nodonate", client))
    said = claims(found)
    assert found.plan.totals.donated == 0
    assert "parameters 1,921.0 MiB + outputs 1,920.0 MiB" in said["plan-too-big"].text
    assert said["no-donation"].remedies[0].saving == 1920 * MIB
    assert said["no-donation"].rules == ("JAX301",)
    assert "one of its outputs, 64.0 MiB" in said["refused-request"].text
    assert "peak-forward" not in said  # the temp block is not the story


@pytest.mark.parametrize("name", ["forward", "gradient"])
def test_what_updates_no_state_is_not_told_to_donate(name):
    assert "no-donation" not in claims(fixture_report(name))


@pytest.mark.parametrize("file", ["rocm_te_fused_attn.xplane.pb", "rocm_jax_conv_08.xplane.pb"])
def test_real_gradient_and_forward_functions_are_not_told_to_donate(file):
    [found] = load.reports(public(file), load.Wanted())
    assert [claim.slug for claim in found.claims] == ["fits"]


@pytest.mark.parametrize("name", ["attention", "kept_grads", "fits", "donated", "remat"])
def test_what_donates_is_not_told_to(name):
    assert "no-donation" not in claims(fixture_report(name))


def test_a_cache_of_which_a_slice_is_overwritten_can_be_donated():
    said = claims(fixture_report("decode"))["no-donation"]
    assert said.remedies[0].saving == 128 * MIB
    assert "cache" in said.remedies[0].action


# ---------------------------------------------------------------- other arrays, fragmentation, room to spare


@CLIENTS
def test_another_array_that_takes_the_room_is_named(report, client):
    found = report(trained("kept_grads", client, resident=1800 * MIB, put_first=True))
    said = claims(found)["other-arrays"]
    origin = "DevicePut" if client == OLD else "BufferFromHostBuffer"
    assert f"{origin} under data.py:12 load" in said.text
    assert said.rules == ("JAX314",)


def test_an_array_from_before_the_capture_cannot_be_named(report):
    said = claims(report(trained("kept_grads", NEW, resident=1800 * MIB)))["other-arrays"]
    assert "allocated before the capture started" in said.text
    assert any("profile from the start" in remedy.action for remedy in said.remedies)


def test_an_array_that_does_not_fit_itself(report):
    found = report(trained("fits", NEW, resident=2900 * MIB, put_first=True))
    assert "BufferFromHostBuffer under data.py:12 load" in claims(found)["waited-outside"].text


@CLIENTS
def test_fragmentation_is_told_from_too_little_memory(report, client):
    found = report(trained("kept_grads", client, fragmented=True))
    said = claims(found)
    assert found.need < found.pools[0].capacity
    assert (found.free[0] // MIB, found.free[1]) == (1239, 64 * MIB)
    assert said["fragmented"].basis is Basis.INFERRED
    assert said["free-at-failure"].basis is Basis.MEASURED
    assert "other-arrays" not in said


@CLIENTS
def test_a_step_with_room_to_spare_is_told_nothing_else(report, client):
    found = report(trained("fits", client))
    assert [claim.slug for claim in found.claims] == ["fits"]
    assert "140.0 MiB of 2,850.0 MiB" in found.claims[0].text


def test_a_model_sized_plan_that_fits(report):
    """Scan stacks of 10 GiB are in the plan, and nothing is wrong with them where the memory is there."""
    found = report(trained("stacked", NEW, limit=288 * 1024 * MIB))
    assert {"fits", "rematerialized"} == set(claims(found))
    assert 60 * 1024 * MIB < found.plan.totals.temp < 70 * 1024 * MIB


def test_stacks_of_a_scan_are_named_where_they_do_not_fit(report):
    said = claims(report(trained("stacked", NEW, limit=48 * 1024 * MIB)))
    assert "while" in said["scan-stacks"].text and "bf16[32,4,4096,11008]" in said["scan-stacks"].text
    assert said["scan-stacks"].rules == ("JAX310",)


def test_bytes_that_just_fit_are_no_promise(report):
    assert "near" in claims(report(trained("fits", NEW, limit=152 * MIB)))


# ---------------------------------------------------------------- what the capture does not tell


def test_a_plan_alone_says_so():
    assert "plan-only" in claims(fixture_report("fits"))


def test_a_capture_of_a_cpu_says_that_it_has_no_allocator_events():
    said = claims(fixture_report("plain"))
    assert "no-allocator-events" in said and "fits" not in said


def test_an_earlier_peak_is_not_taken_for_that_of_the_capture(report):
    assert "earlier-peak" in claims(report(trained("kept_grads", NEW, fragmented=True)))


def test_a_run_of_single_operations_is_told_to_read_the_runtime_part(report):
    said = claims(report(made.eager(8)))["operation-by-operation"]
    assert "16 of 16 executions" in said.text and "jit_op0" in said.text
    assert "operation-by-operation" not in claims(report(made.eager(7)))
    assert "operation-by-operation" not in claims(report(trained("kept_grads", NEW)))


def test_a_peak_from_before_anything_ran_is_told_apart(report):
    said = claims(report(made.eager(8, spike=64 * MIB)))["peak-before-running"]
    assert "64.0 MiB, lies before the first execution" in said.text
    assert "peak-before-running" not in claims(report(made.eager(8)))


def test_a_saving_is_said_how_to_confirm(report):
    assert CONFIRM in "\n".join(text_report.lines(report(trained("attention", NEW)), 10))
    assert CONFIRM not in "\n".join(text_report.lines(report(trained("fits", NEW)), 10))
