"""Every log in fixtures/logs gets the family it belongs to, and those of healthy runs get none."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.triage.diagnosis import Diagnosis, diagnose
from jaxlint.triage.families import Family
from jaxlint.triage.scan import scan

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"

REAL = {
    "0.4.35-016-filter-jit-python-step-bad": [Family.RETRACE],
    "0.4.35-030-static-drift-closures-sde-bad": [Family.RETRACE],
    "0.4.35-016-filter-jit-python-step-good": [],
    "0.5.3-020-active-pairs-nonzero-bad": [Family.RETRACE],
    "0.5.3-023-kv-cache-concatenate-good": [],
    "0.6.2-030-static-drift-closures-sde-bad": [Family.RETRACE],
    "0.6.2-014-video-clips-native-length-good": [],
    "0.7.2-023-kv-cache-concatenate-bad": [Family.RETRACE],
    "0.7.2-131-simulation-frames-kept-bad-no-memory": [Family.HOST],
    "0.8.2-001-sweep-closure-jit-bad": [Family.RETRACE],
    "0.8.2-001-sweep-closure-jit-good": [],
    "0.9.2-038-lax-map-postprocess-closure-bad": [Family.RETRACE],
    "0.9.2-044-batch-dict-optional-key-bad": [],  # two forms, and no more than two compilations
    "0.10.2-016-filter-jit-python-step-bad": [Family.RETRACE],
    "0.10.2-022-unique-tokens-embedding-bad": [Family.RETRACE],
    "0.10.2-026-nnx-optimizer-recreated-bad": [Family.RETRACE],
    "0.10.2-036-scan-partial-eager-bad": [Family.RETRACE],
    "0.10.2-036-scan-partial-eager-good": [],
    "0.10.2-131-simulation-frames-kept-bad-killed": [Family.HOST],
    "0.10.2-131-simulation-frames-kept-good-sampled": [],
    "0.10.2-001-sweep-closure-jit-good-stale-cache": [Family.CACHE],
    "0.10.2-keys-added-each-step": [Family.RETRACE],
    "0.10.2-keys-added-each-step-explained": [Family.RETRACE],
    "0.10.2-buckets-of-64": [],
    "0.10.2-four-sizes-at-the-end": [],
}
WRITTEN = {
    "advice-only": [],
    "evicted": [Family.HOST],
    "gpu-cublas-no-room": [Family.DEVICE],
    "gpu-cudnn-no-room": [Family.DEVICE],
    "gpu-pinned-host-pool": [Family.HOST],
    "gpu-remat-outlived": [],
    "kernel-oom-old": [Family.HOST],
    "liveness-probe": [],
    "mpich-killed": [Family.HOST],
    "stale-cache-outlived": [],
    "gpu-memory-comes-free": [],
    "tpu-vmem": [Family.DEVICE],
    "two-devices-statistics": [Family.DEVICE],
    "two-gpus-unnamed": [Family.DEVICE],
    "two-gpus-out": [Family.DEVICE],
    "cudnn-too-old": [Family.CACHE],
    "cut-off": [],
    "dataloader-worker": [Family.HOST],
    "gpu-attention-does-not-fit": [Family.DEVICE],
    "gpu-disguised-load": [Family.DEVICE],
    "gpu-fragmented": [Family.DEVICE],
    "gpu-grads-kept": [Family.DEVICE],
    "gpu-healthy": [],
    "gpu-notebook-eager-init": [Family.DEVICE],
    "gpu-stairs-retrace": [Family.RETRACE, Family.DEVICE],
    "gpu-taken-by-another-process": [Family.DEVICE],
    "host-grows-gpu-flat": [Family.HOST],
    "kernel-oom-dmesg": [Family.HOST],
    "ptx-unsupported": [Family.CACHE],
    "ranks-coloured": [Family.RETRACE],
    "ranks-unmarked-healthy": [],
    "slurm-oom": [Family.HOST],
    "time-limit": [],
    "tpu-hbm": [Family.DEVICE],
}


def diagnosis_of(folder: str, name: str) -> Diagnosis:
    return diagnose(scan([str(LOGS / folder / f"{name}.log")]))


@pytest.mark.parametrize("name", REAL)
def test_a_real_log_gets_its_family(name: str) -> None:
    assert diagnosis_of("real", name).families == REAL[name]


@pytest.mark.parametrize("name", WRITTEN)
def test_a_written_log_gets_its_family(name: str) -> None:
    assert diagnosis_of("written", name).families == WRITTEN[name]


MATRIX = sorted((LOGS / "matrix").glob("*/*.log.gz"))
OF_CASE = {
    "001-sweep-closure-jit-bad": ([Family.RETRACE], "loss", 6),
    "001-sweep-closure-jit-good": ([], "", 0),
    "001-sweep-closure-jit-good-stale-cache": ([Family.CACHE], "", 0),
    "016-filter-jit-python-step-bad": ([Family.RETRACE], "train_step", 6),
    "016-filter-jit-python-step-good": ([], "", 0),
    "020-active-pairs-nonzero-bad": ([Family.RETRACE], "forces", 8),
    "023-kv-cache-concatenate-bad": ([Family.RETRACE], "decode_step", 8),
    "023-kv-cache-concatenate-good": ([], "", 0),
    "030-static-drift-closures-sde-bad": ([Family.RETRACE], "sdeint", 5),
    "036-scan-partial-eager-bad": ([Family.RETRACE], "scan", 6),
    "131-simulation-frames-kept-bad-killed": ([Family.HOST], "", 0),
    "131-simulation-frames-kept-bad-no-memory": ([Family.HOST], "", 0),
}


@pytest.mark.parametrize(
    "path", MATRIX, ids=lambda path: f"{path.parent.name}-{path.name.removesuffix('.log.gz')}"
)
def test_every_jax_gets_the_same_answer(path: Path) -> None:
    named, boundary, count = OF_CASE[path.name.removesuffix(".log.gz")]
    diagnosis = diagnose(scan([str(path)]))

    assert diagnosis.families == named
    assert [(b.name, b.count) for b in diagnosis.boundaries if b.leaks][:1] == [(boundary, count)] * bool(
        boundary
    )


def test_the_matrix_is_whole() -> None:
    versions = {path.parent.name for path in MATRIX}

    assert len(versions) == 8
    assert len(MATRIX) == len(versions) * len(OF_CASE)


def test_what_is_left_where_jax_explains_everything_but_statics() -> None:
    path = LOGS / "matrix" / "0.12.0.1" / "016-filter-jit-python-step-bad.log.gz"
    (boundary,) = (b for b in diagnose(scan([str(path)])).boundaries if b.leaks)

    assert boundary.why == "always for the same argument types: what is left is a static value"


def test_there_is_an_expectation_for_every_log() -> None:
    assert {path.stem for path in (LOGS / "real").glob("*.log")} == set(REAL)
    assert {path.stem for path in (LOGS / "written").glob("*.log")} == set(WRITTEN)


# ---------------------------------------------------------------- what the casebook's cases are about

BOUNDARIES = {
    "0.4.35-016-filter-jit-python-step-bad": ("train_step", 6),
    "0.4.35-030-static-drift-closures-sde-bad": ("sdeint", 5),
    "0.5.3-020-active-pairs-nonzero-bad": ("forces", 8),
    "0.6.2-030-static-drift-closures-sde-bad": ("sdeint", 5),
    "0.7.2-023-kv-cache-concatenate-bad": ("decode_step", 8),
    "0.8.2-001-sweep-closure-jit-bad": ("loss", 6),
    "0.9.2-038-lax-map-postprocess-closure-bad": ("scan", 5),
    "0.10.2-016-filter-jit-python-step-bad": ("train_step", 6),
    "0.10.2-022-unique-tokens-embedding-bad": ("sparse_update", 5),
    "0.10.2-036-scan-partial-eager-bad": ("scan", 6),
    "0.10.2-keys-added-each-step": ("step", 30),
    "0.10.2-keys-added-each-step-explained": ("step", 30),
}


@pytest.mark.parametrize("name", BOUNDARIES)
def test_the_boundary_and_its_compilations_are_named(name: str) -> None:
    leaking = [b for b in diagnosis_of("real", name).boundaries if b.leaks]

    assert (leaking[0].name, leaking[0].count) == BOUNDARIES[name]
    assert leaking[0].seconds_after_warm_up > 0
    assert leaking[0].seconds_after_warm_up < leaking[0].seconds


def test_the_static_value_that_changed_is_found_in_equinox_metadata() -> None:
    (boundary,) = (
        b for b in diagnosis_of("real", "0.10.2-016-filter-jit-python-step-bad").boundaries if b.leaks
    )

    assert [(change.before, change.now) for change in boundary.changes][:3] == [
        ("0", "1"),
        ("0", "2"),
        ("0", "3"),
    ]
    assert boundary.rules == ("JAX101", "JAX102")


def test_the_argument_whose_shape_varies_is_named() -> None:
    (boundary,) = (
        b for b in diagnosis_of("real", "0.7.2-023-kv-cache-concatenate-bad").boundaries if b.leaks
    )

    assert {change.where for change in boundary.changes} == {"k_cache", "v_cache"}
    assert boundary.rules[0] == "JAX106"
    assert boundary.defined == "/home/user/project/program.py:7"


def test_a_structure_that_is_described_in_many_lines_is_read() -> None:
    name = "0.10.2-026-nnx-optimizer-recreated-bad"
    (boundary,) = (b for b in diagnosis_of("real", name).boundaries if b.leaks)

    assert (boundary.name, boundary.count) == ("train_one_epoch", 3)
    assert boundary.rules == ("JAX107", "JAX108")
    assert boundary.changes[0].where == "[0][1]._graphdef"


def test_closures_that_are_static_arguments_are_told_from_values() -> None:
    (boundary,) = (
        b for b in diagnosis_of("real", "0.6.2-030-static-drift-closures-sde-bad").boundaries if b.leaks
    )

    assert boundary.rules == ("JAX107", "JAX108")


# ---------------------------------------------------------------- written ones


def test_growth_per_step_is_measured() -> None:
    ((_, growth),) = diagnosis_of("written", "gpu-grads-kept").series

    assert growth is not None
    assert (growth.per_step, growth.of) == (104 << 20, "step")


def test_an_orphan_is_named_and_a_service_is_not() -> None:
    diagnosis = diagnosis_of("written", "gpu-taken-by-another-process")

    assert [process.pid for process in diagnosis.orphans] == [31337]


def test_an_oom_behind_another_exception_is_found_at_its_own_line() -> None:
    diagnosis = diagnosis_of("written", "gpu-disguised-load")

    assert diagnosis.at == "/home/user/project/load.py:31 (restore)"
    assert any(evidence.symptom == "disguised" for evidence in diagnosis.evidence)


def test_only_the_rank_that_retraces_is_named() -> None:
    leaking = [b for b in diagnosis_of("written", "ranks-coloured").boundaries if b.leaks]

    assert [(b.name, b.rank, b.count) for b in leaking] == [("train_step", "2", 6)]
    assert leaking[0].changes[0].where == "batch"


def test_fragmentation_is_read_from_the_statistics() -> None:
    evidence = diagnosis_of("written", "gpu-fragmented").evidence

    assert any(e.symptom == "fragmented" and "4 GiB were free when 3 GiB" in e.text for e in evidence)


def test_free_memory_of_one_device_is_not_set_against_the_request_of_another() -> None:
    assert not any(e.symptom == "fragmented" for e in diagnosis_of("written", "two-gpus-out").evidence)


def test_a_kernel_that_does_not_fit_the_chip_gets_its_sizes_and_its_own_advice() -> None:
    diagnosis = diagnosis_of("written", "tpu-vmem")

    assert [e.text for e in diagnosis.evidence] == [
        "a kernel does not fit into vmem: it asks for 18.50M of 16.00M"
    ]
    assert not any("bfloat16" in step for step in diagnosis.steps)
    assert any("BlockSpec" in step for step in diagnosis.steps)


@pytest.mark.parametrize(
    ("name", "grows"), [("two-gpus-unnamed", "gpu 1"), ("two-devices-statistics", "gpu 1 bytes_in_use")]
)
def test_of_two_devices_the_one_that_grows_is_named(name: str, grows: str) -> None:
    series = diagnosis_of("written", name).series

    assert [one.name for one, growth in series if growth] == [grows]
    assert len(series) == 2
