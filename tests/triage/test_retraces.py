"""What is a retrace that goes on, and what is normal."""

from __future__ import annotations

from itertools import pairwise

import pytest

from jaxlint.triage.cache_misses import Reason
from jaxlint.triage.diagnosis import Diagnosis, diagnose
from jaxlint.triage.reading import Line
from jaxlint.triage.scan import Scan


def compiled(name: str, *types: str) -> str:
    shaped = ", ".join(f"ShapedArray({text})" for text in types)
    return f"Compiling jit({name}) with global shapes and types ({shaped},). Argument mapping: (UnspecifiedValue,)."


def diagnosis_of(*texts: str) -> Diagnosis:
    scan = Scan()
    for number, text in enumerate(texts, 1):
        scan.feed(Line("run.log", number, text))
    return diagnose(scan)


def leaks(*texts: str) -> list[str]:
    return [boundary.name for boundary in diagnosis_of(*texts).boundaries if boundary.leaks]


def sizes(*numbers: int) -> list[str]:
    return [compiled("step", f"float32[{n},8]") for n in numbers]


@pytest.mark.parametrize(
    "log",
    [
        [compiled("step", "float32[8]")],
        sizes(64, 32),  # training and the last batch
        sizes(64, 32, 16),
        sizes(16, 64, 8, 32, 128, 256),  # buckets
        sizes(192, 64, 256, 128, 320),
        sizes(16, 32, 48, 64),
        [compiled("step", "float32[8]")] * 3,
        [compiled("_uniform", "uint32[2]")] * 40,  # initialising
        [compiled("broadcast_in_dim", f"float32[{n}]") for n in range(40)],
    ],
)
def test_what_is_normal_is_no_leak(log: list[str]) -> None:
    assert leaks(*log) == []


@pytest.mark.parametrize(
    "log",
    [
        sizes(12, 15, 18, 21),  # each clip at its own length
        sizes(31, 7, 22, 19, 45),  # as many as there are
        sizes(*range(32, 32 * 10, 32)),  # blocks that are put together
        [compiled("step", *["float32[8]"] * n) for n in range(1, 5)],  # a list that grows
        [compiled("step", *["float32[8]"] * n) for n in (3, 9, 4, 8, 5)],
        [compiled("step", "float32[8]")] * 4,  # a static value, or a new function
        [compiled("scan", "float32[8]")] * 5,
    ],
)
def test_what_goes_on_is_a_leak(log: list[str]) -> None:
    assert leaks(*log) != []


def test_operations_of_jax_leak_where_they_go_on_from_step_to_step() -> None:
    log = []
    for step in range(12):
        log += [f"step {step} loss 0.1", compiled("dynamic_slice", f"float32[{step}]")]

    assert leaks(*log) == ["dynamic_slice"]


def test_processes_that_write_one_log_are_counted_once() -> None:
    names = ["iota", "_normal", "init", "step", "evaluate", "convert_element_type"]
    log = [compiled(name, "float32[8]") for name in names for _ in range(8)]

    assert leaks(*log) == []


def test_a_leak_shows_though_processes_write_one_log() -> None:
    names = ["iota", "_normal", "init", "evaluate", "convert_element_type", "_mean"]
    log = [compiled(name, "float32[8]") for name in names for _ in range(2)]
    log += [compiled("step", f"float32[{n}]") for n in range(3, 20) for _ in range(2)]

    assert leaks(*log) == ["step"]


def test_one_process_for_each_configuration_is_no_leak() -> None:
    log = []
    for size in (100, 200, 400):
        log += [
            "TRACING CACHE MISS at peak.py:12:4 (main):",
            "  never seen function:",
            f"    simulate id={size} defined at peak.py:5",
            compiled("simulate", f"float32[{size}]"),
        ]

    assert leaks(*log) == []


def test_a_function_that_is_made_anew_is_a_leak_from_the_third_on() -> None:
    miss = [
        "TRACING CACHE MISS at fit.py:12:4 (main):",
        "  never seen function:",
        "    loss id=7 defined at fit.py:5",
    ]
    again = "  but seen another function defined on the same line; maybe the function is"
    log = [*miss, compiled("loss", "float32[8]")]
    for _ in range(2):
        log += [
            *miss,
            again,
            "  being re-defined repeatedly, preventing caching?",
            compiled("loss", "float32[8]"),
        ]

    assert leaks(*log) == ["loss"]
    assert leaks(*log[:-6]) == []


def restructured(*numbers: int, where: str = "[0][1]") -> list[str]:
    """Explanations alone, of a function whose argument has another number of children each time."""
    log = []
    for before, now in pairwise(numbers):
        log += [
            "TRACING CACHE MISS at fit.py:12:4 (main) because:",
            "  for step defined at fit.py:5",
            "  different input pytree:",
            f"  * at {where}, now a dict with {now} children and before a dict with {before} children",
        ]
    return log


def test_structures_that_go_on_varying_are_a_leak() -> None:
    assert leaks(*restructured(1, 2, 3, 4, 5, 6)) == ["step"]
    assert leaks(*restructured(1, 2, 3, 4)) == []
    assert leaks(*restructured(1, 2, 1, 2, 1, 2)) == []  # a key that is there or not
    assert leaks(*(line for w in "abcd" for line in restructured(1, 2, where=w))) == []


def test_structures_that_have_all_come_are_no_leak() -> None:
    assert leaks("step 0 loss 0.1", *restructured(1, 2, 3, 4, 5, 6), *STEPS) == []


# ---------------------------------------------------------------- warm-up of several objects


def trained(steps: int, compiled_at: dict[int, str]) -> list[str]:
    return [line for n in range(steps) for line in (f"step {n} loss 0.1", compiled_at.get(n, "")) if line]


@pytest.mark.parametrize("lengths", [(37, 61, 85, 120, 250), (12, 15, 18, 21)])
def test_lengths_that_have_all_come_early_are_no_leak(lengths: tuple[int, ...]) -> None:
    early = {3 * n: line for n, line in enumerate(sizes(*lengths))}

    assert leaks(*trained(200, early)) == []
    assert leaks(*trained(3 * len(lengths) + 5, early)) == ["step"]  # it may well go on


def test_a_compilation_now_and_then_goes_on() -> None:
    at_each_evaluation = {50 * n: line for n, line in enumerate(sizes(31, 7, 22, 19, 45))}

    assert leaks(*trained(249, at_each_evaluation)) == ["step"]


def made_anew(times: int, *, name: str = "step") -> list[str]:
    """What jax says of objects that jit a method each, and of a function that is made anew: the same."""
    log = []
    for number in range(times):
        log += ["TRACING CACHE MISS at fit.py:12:4 (main):", "  never seen function:"]
        log += [f"    {name} id={number} defined at fit.py:5"]
        log += ["  but seen another function defined on the same line; maybe the function is"] * (number > 0)
        log += [compiled(name, "float32[8]")]
    return log


STEPS = [f"step {n} loss 0.{n}" for n in range(8)]


@pytest.mark.parametrize("times", [3, 8, 40])
@pytest.mark.parametrize(
    "after",
    [STEPS, [f"loss 0.{n}" for n in range(8)], [f"{n}/100 [00:0{n}<00:09, 1.2it/s]" for n in range(8)]],
    ids=["steps", "lines", "bar"],
)
def test_objects_that_jit_a_method_each_are_no_leak(times: int, after: list[str]) -> None:
    assert leaks(*made_anew(times), *after) == []
    assert leaks(after[0], *made_anew(times), *after[1:]) == []
    assert leaks(*[compiled("step", "float32[8]")] * times, *after) == []


def test_what_was_over_early_is_said_in_the_table() -> None:
    (boundary,) = diagnosis_of(*made_anew(8), *STEPS).boundaries

    assert boundary.over and boundary.count == 8
    assert (boundary.why, boundary.rules) == ("at the start, and not since", ())


def test_what_training_and_evaluation_compile_once_each_is_over() -> None:
    log = [*made_anew(4), *STEPS[:4], *made_anew(4), *STEPS[4:]]

    assert leaks(*log) == []


def test_what_is_made_anew_at_each_step_is_a_leak() -> None:
    log = [line for n in range(8) for line in (*made_anew(2)[-5:], f"step {n} loss 0.1")]

    assert leaks(*log) == ["step"]


def test_what_is_made_anew_until_the_log_ends_is_a_leak() -> None:
    assert leaks(*STEPS[:2], *made_anew(8)) == ["step"]
    assert leaks(*made_anew(8), "done") == ["step"]


def test_too_many_functions_are_counted_and_named_nowhere() -> None:
    log = [compiled(f"step{n}", "float32[8]") for n in range(5000)]
    diagnosis = diagnosis_of(*log, *[compiled("late", f"float32[{n}]") for n in range(40)])

    assert diagnosis.boundaries == []
    assert diagnosis.families == []
    assert any(f"{5000 - 4096 + 40} compilations" in note for note in diagnosis.notes)


@pytest.mark.parametrize(
    "ending",
    [
        "https://docs.jax.dev/en/latest/type_promotion.html#weak-types",
        "\nwhere weak_type=True often means a Python builtin numeric value, and \n"
        "weak_type=False means a jax.Array.\n"
        "See https://docs.jax.dev/en/latest/type_promotion.html#weak-types.",
        " See https://jax.readthedocs.io/en/latest/type_promotion.html#weak-types.",
    ],
    ids=["0.10", "0.6", "in one line"],
)
def test_weak_types_are_told_without_the_address_behind_them(ending: str) -> None:
    log = [
        *[
            "TRACING CACHE MISS at fit.py:12:4 (main):",
            "  for step defined at fit.py:5",
            "  different input types:",
        ],
        *f"  * at x, now f32[]{{weak_type=True}} and before f32[]{{weak_type=False}}{ending}".split("\n"),
        "TRACING CACHE MISS at fit.py:12:4 (main):",
        "  never seen function:",
        "    other id=7 defined at fit.py:9",
    ]
    scan = Scan()
    for number, text in enumerate(log, 1):
        scan.feed(Line("run.log", number, text))
    first = scan.misses.misses[0]

    assert [tuple(change) for change in first.changes] == [
        ("x", "f32[]{weak_type=False}", "f32[]{weak_type=True}")
    ]
    assert first.reason is Reason.WEAK


def test_weak_types_are_told_from_shapes() -> None:
    log = [compiled("step", "float32[], weak_type=True"), compiled("step", "float32[]")]
    (boundary,) = diagnosis_of(*log).boundaries

    assert boundary.rules == ("JAX111",)


def test_seconds_are_counted_after_the_first_compilation() -> None:
    done = "Finished XLA compilation of jit(step) in 0.5 sec"
    traced = "Finished tracing step for jit in 0.25 sec"
    log = [line for _ in range(4) for line in (traced, compiled("step", "float32[8]"), done)]
    (boundary,) = diagnosis_of(*log).boundaries

    assert (boundary.seconds, boundary.seconds_after_warm_up) == (3.0, 2.25)


@pytest.mark.parametrize(
    ("module", "name"), [("jit_step", "step"), ("jit__normal", "_normal"), ("pmap_train_step", "train_step")]
)
def test_what_the_persistent_cache_gives_is_counted_with_its_function(module: str, name: str) -> None:
    scan = Scan()
    scan.feed(Line("run.log", 1, f"Persistent compilation cache hit for '{module}' with key '{module}-4f'"))
    ((key, of),) = scan.compiles.functions.items()

    assert (key[2], of.loaded) == (name, 1)


def test_pmap_is_read_too() -> None:
    text = "Compiling step (140221) for 8 devices with args (ShapedArray(float32[8,{n}]),). (num_replicas=8)"

    assert leaks(*(text.replace("{n}", str(n)) for n in (3, 5, 9, 4, 7))) == ["step"]


# ---------------------------------------------------------------- other families


@pytest.mark.parametrize(
    "text",
    [
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 8.00GiB with freed_by_count=0. The caller "
        "indicates that this is not a failure, but this may mean that there could be performance gains if more "
        "memory were available.",
        "grpc._channel._InactiveRpcError: RESOURCE_EXHAUSTED: Received message larger than max (8 vs. 4)",
        "except XlaRuntimeError as e:  # RESOURCE_EXHAUSTED: Out of memory",
        "# export RESOURCE_EXHAUSTED out of memory",
        "Killed 3 zombies in episode 9",
        "the process exited with code 1371",
        "Failed to deserialize checkpoint meta data",
        "MemoryErrorCallback registered",
        "CUDNN_STATUS_SUCCESS",
        "ValueError: pytree structure mismatch: expected 3 leaves",
    ],
)
def test_words_that_only_look_like_it_name_nothing(text: str) -> None:
    assert diagnosis_of(text).families == []


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("./train.sh: line 3:  8113 Killed                  python train.py", "host RAM"),
        ("[1]    8113 killed     python train.py", "host RAM"),
        ("Command exited with exit code: 137", "host RAM"),
        ("    Reason:       OOMKilled", "host RAM"),
        ("traceback : Signal 9 (SIGKILL) received by PID 8113", "host RAM"),
        ("  exitcode  : -9 (pid: 8113)", "host RAM"),
        ("numpy.core._exceptions._ArrayMemoryError: Unable to allocate 74.5 GiB for an array", "host RAM"),
        ("Memory cgroup out of memory: Killed process 8113 (python) total-vm:9kB, anon-rss:9kB", "host RAM"),
        ("RuntimeError: Unable to start: OSError: [Errno 12] Cannot allocate memory", "host RAM"),
        ("jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 4398 bytes.", "host RAM"),
        ("RESOURCE_EXHAUSTED: Failed to allocate request for 16.00GiB on device ordinal 0", "device memory"),
        ("RESOURCE_EXHAUSTED: Attempting to reserve 12.50G at the bottom of memory.", "device memory"),
        ("INTERNAL: ptxas exited with non-zero error code 65280", "stale cache or CUDA library"),
        ("CUDNN_STATUS_NOT_INITIALIZED in external/xla", "stale cache or CUDA library"),
    ],
)  # fmt: skip
def test_a_single_line_names_its_family(text: str, family: str) -> None:
    assert [str(named) for named in diagnosis_of(text).families] == [family]


def samples_of_gpu(numbers: list[int]) -> list[str]:
    rows = [f"2026/05/03 11:00:{i:02d}.101, {n} MiB, 81559 MiB" for i, n in enumerate(numbers)]
    return ["timestamp, memory.used [MiB], memory.total [MiB]", *rows]


def test_a_device_that_is_flat_and_runs_out_is_about_one_phase() -> None:
    out = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 99 bytes."
    diagnosis = diagnosis_of(*samples_of_gpu([61000] * 8), out)

    assert [str(family) for family in diagnosis.families] == ["device memory"]
    assert any(e.symptom == "one-phase" for e in diagnosis.evidence)


def test_growth_says_when_the_memory_is_full() -> None:
    log = [line for n in range(12) for line in (f"step {n}", *samples_of_gpu([20_000 + 1000 * n])[n > 0 :])]
    (evidence,) = diagnosis_of(*log).evidence

    assert evidence.text.endswith("; at that rate its 79.6 GiB are full after 51 steps more")


def test_a_host_that_is_nearly_full_is_a_hint_and_no_more() -> None:
    diagnosis = diagnosis_of(*["Mem:           64243       60000        4000"] * 8)

    assert diagnosis.families == []
    assert [e.symptom for e in diagnosis.evidence] == ["host-plateau"]


def test_a_run_on_the_cpu_by_mistake_is_a_hint() -> None:
    text = (
        "WARNING:jax._src.xla_bridge:864: An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib "
        "is not installed. Falling back to cpu."
    )
    diagnosis = diagnosis_of(text)

    assert diagnosis.families == []
    assert [e.symptom for e in diagnosis.evidence] == ["no-accelerator"]


def test_a_chain_of_three_exceptions_is_followed_to_the_first() -> None:
    text = """Traceback (most recent call last):
  File "load.py", line 3, in inner
jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 99 bytes.

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "load.py", line 9, in middle
KeyError: 'w'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "main.py", line 1, in <module>
ValueError: leaf mismatch"""
    diagnosis = diagnosis_of(*text.splitlines())

    assert diagnosis.at == "load.py:3 (inner)"
    assert [e.text for e in diagnosis.evidence if e.symptom == "disguised"][-1].startswith("ValueError hides")
