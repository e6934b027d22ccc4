"""What came first names the family, what the run survived comes last, and what is only talked of names nothing."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from jaxlint.cli import main
from jaxlint.triage import text_report
from jaxlint.triage.diagnosis import Diagnosis, diagnose
from jaxlint.triage.reading import Line
from jaxlint.triage.scan import Scan, scan

OUT = "jaxlib._jax.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes."
TRACEBACK = ["Traceback (most recent call last):", '  File "train.py", line 9, in main', OUT]


def read(*texts: str, rank: str = "") -> Scan:
    found = Scan()
    for number, text in enumerate(texts, 1):
        found.feed(Line("run.log", number, text, rank))
    return found


def families(*texts: str) -> list[str]:
    return [str(family) for family in diagnose(read(*texts)).families]


def of_files(tmp_path: Path, logs: dict[str, list[str]]) -> Diagnosis:
    paths = []
    for name, lines in logs.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        paths.append(str(tmp_path / name))
    return diagnose(scan(paths))


# ---------------------------------------------------------------- killed, or only talked of


@pytest.mark.parametrize(
    "text",
    [
        "subprocess.CalledProcessError: Command '['python', 'train.py']' died with <Signals.SIGKILL: 9>.",
        "subprocess.CalledProcessError: Command 'python train.py' returned non-zero exit status -9.",
        "subprocess.CalledProcessError: Command 'python train.py' returned non-zero exit status 137.",
        "CompletedProcess(args=['python'], returncode=-9)",
        "<Process name='Process-1' pid=8113 parent=8100 stopped exitcode=-SIGKILL>",
        "The exit codes of the workers are {SIGKILL(-9)}",
        "mpirun noticed that process rank 3 with PID 8113 on node n1 exited on signal 9 (Killed).",
        "srun: error: n1: task 3: Exited with exit code 137",
        "Process finished with exit code 137 (interrupted by signal 9: SIGKILL)",
        "exit code 137",
        "exit status: 137",
        "train.py exit code 137",
        "    Exit Code:    137",
        '  "exitCode": 137,',
        "Main process exited, code=killed, status=9/KILL",
        "zsh: killed     python train.py",
        "Killed: 9",
        "Process exited with code 137, which usually means that memory ran out",
        "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
        "(raylet) node_manager.cc:3040: 2 Workers (tasks / actors) killed due to memory pressure (OOM)",
        "RuntimeError: DataLoader worker (pid 8113) is killed by signal: Killed.",
        "RuntimeError: DataLoader worker (pid 8113) is killed by signal: Bus error. It is possible that "
        "dataloader's workers are out of shared memory.",
        "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=123.batch. Some of your processes may have been",
        "slurmstepd: error: Detected 3 oom_kill events in StepId=123.0.",
        "123.batch      python   OUT_OF_ME+      0:125",
        "State: OUT_OF_MEMORY (exit code 0)",
        "      Reason:       OOMKilled",
        "train-0   0/1     OOMKilled   2 (30s ago)   3m",
        "oom_kill 3",
        "Your session crashed after using all available RAM.",
        "[12345.7] Killed process 4242 (python3) total-vm:80123456kB, anon-rss:66060288kB, file-rss:12kB",
        "Out of memory: Kill process 4242 (python3) score 950 or sacrifice child",
        "[12345.7] Killed process 4242, UID 1000, (python3) total-vm:80123456kB, anon-rss:66060288kB",
        "srun: error: gpu-node3: task 2: Out Of Memory",
        "srun: error: gpu-node3: tasks 0-2,5: Out Of Memory",
        "srun: error: node17: task 3: Killed",
        "  Warning  Evicted  2m  kubelet  The node was low on resource: memory. Container train was using 60Gi",
        "  Warning  SystemOOM  2m  kubelet  System OOM encountered, victim process: python, pid: 4242",
        "host systemd-oomd[123]: Killed /user.slice/train.service due to memory pressure for /user.slice",
        "systemd[1]: train.service: systemd-oomd killed 12 process(es) in this unit.",
        'earlyoom: sending SIGTERM to process 4242 uid 1000 "python3": badness 950, VmRSS 60000 MiB',
        "=>> PBS: job killed: mem 67108900kb exceeded limit 67108864kb",
        "=>> PBS: job killed: vmem 67108900kb exceeded limit 67108864kb",
        "failed       52  : cgroups enforced memory limit",
        "exit_status  137                  (Killed)",
        "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)",
        "Job has gone over memory limit of 4096 megabytes. Peak usage: 4100 megabytes.",
        "OutOfMemoryError: Container killed due to memory usage",
        "terminate called after throwing an instance of 'std::bad_alloc'",
    ],
)
def test_a_kill_is_heard(text: str) -> None:
    assert families(text) == ["host RAM"]


@pytest.mark.parametrize(
    "text",
    [
        "# exit code 137 means that the kernel killed it",
        "If the job ends with exit code 137, lower the batch size",
        "exit code 137 usually means out of memory",
        "see the page on exit code 137",
        "restart policy: retry when the container exited with 137",
        "handles SIGKILL (signal 9) and exit code 137 alike",
        "echo exit code 137",
        "if returncode == 137: raise MemoryError",
        "the container did not exit with exit code 137",
        "exited with code 0 after 137 steps",
        'State: {"OOMKilled": false, "ExitCode": 1}',
        "pods that are OOMKilled? raise the limit",
        "oom_kill 0",
        "Detected 0 oom-kill event(s)",
        "via Signals.SIGTERM, forcefully exiting via Signals.SIGKILL",
        "step 137 loss 0.3 exit gate 0.137",
        "learning rate 0.137 with status 200",
        "the process pool is killed by hand",
        "we killed process 12 (a worker) by hand",
        "The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi",
        "=>> PBS: job killed: walltime 3630 exceeded limit 3600",
        "earlyoom: mem avail: 1023 of 64000 MiB (1.60%), swap free: 0 of 0 MiB",
        "MemoryErrorHandler installed",
        "MemoryError handling is on",
        "catching std::bad_alloc is left to the caller",
    ],
)
def test_a_mere_mention_is_no_kill(text: str) -> None:
    assert families(text) == []


@pytest.mark.parametrize(
    "reason",
    [
        "  Normal   Killing  2m  kubelet  Container train failed liveness probe, will be restarted",
        "timeout: sending signal KILL to command 'python'",
        "timeout: sending signal 9 to command 'python'",
        "=>> PBS: job killed: walltime 3630 exceeded limit 3600",
        "TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
        "Received SIGTERM: spot instance interruption notice; saving",
        "The instance was preempted",
        "srun: error: node17: task 0: Exited with exit code 1",
        "slurmstepd: error: *** JOB 1 ON n CANCELLED AT 2026-01-01T00:00:00 DUE TO NODE FAILURE ***",
    ],
)
def test_a_kill_for_another_reason_names_nothing(reason: str) -> None:
    diagnosis = diagnose(
        read("step 1 loss 0.3", reason, "srun: error: node17: task 3: Killed", "exit code 137")
    )

    assert diagnosis.families == []
    assert any("for another reason than its memory" in note for note in diagnosis.notes)


@pytest.mark.parametrize(
    "text",
    [
        "If you see RESOURCE_EXHAUSTED: Out of memory, reduce the batch size",
        "INFO: set XLA_PYTHON_CLIENT_MEM_FRACTION to avoid RESOURCE_EXHAUSTED out of memory errors",
        "retrying after CUDA_ERROR_OUT_OF_MEMORY is enabled",
        "retry_on=RESOURCE_EXHAUSTED (out of memory)",
        "INFO handling of RESOURCE_EXHAUSTED: Out of memory is on",
        "to prevent CUDNN_STATUS_NOT_INITIALIZED lower the memory fraction",
        "CUDNN_STATUS_NOT_INITIALIZED usually means too little memory",
        "if you see CUDA_ERROR_INVALID_PTX, upgrade the driver",
        "this may cause CUDNN_STATUS_ALLOC_FAILED",
    ],
)
def test_an_error_that_is_only_talked_of_names_nothing(text: str) -> None:
    assert families("step 1 loss 0.3", text, "step 2 loss 0.2") == []


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: Could not run: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8 bytes",
        "E0101 00:00:00.1 77 gpu/client.cc:29] This may be fatal: RESOURCE_EXHAUSTED: Out of memory",
        "2026-01-01 00:00:00.1: E xla/cuda_dnn.cc:465] Could not create cudnn handle: CUDNN_STATUS_ALLOC_FAILED",
        "[rank1] XlaRuntimeError: INTERNAL: if this goes on: RESOURCE_EXHAUSTED: Failed to allocate 1GiB",
        "E cuda_blas.cc:183] Failure to initialize cublas may be due to OOM (cublas needs some free memory)",
        "XlaRuntimeError: INTERNAL: ncclCommInitRank failed: unhandled cuda error 'Cuda failure 2 'out of memory''",
        "XlaRuntimeError: RESOURCE_EXHAUSTED: Shared memory size limit exceeded: requested 9, available: 8",
    ],
)
def test_what_an_exception_or_xla_says_is_a_report(text: str) -> None:
    assert families(text) == ["device memory"]


@pytest.mark.parametrize(
    "text",
    [
        "E xla/cuda_dnn.cc:534] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR",
        "XlaRuntimeError: FAILED_PRECONDITION: DNN library initialization failed. Look at the errors above.",
    ],
)
def test_cudnn_that_does_not_say_why_it_did_not_start_names_nothing(text: str) -> None:
    diagnosis = diagnose(read(text))

    assert diagnosis.families == []
    assert [e.symptom for e in diagnosis.evidence] == ["cudnn-fails"]


def test_cudnn_that_fails_for_memory_blames_no_version() -> None:
    memory = "E xla/cuda_dnn.cc:538] Memory usage: {} bytes free, 25438715904 bytes total."
    handle = "E xla/cuda_dnn.cc:534] Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED"

    assert families(handle, memory.format(122880000)) == ["device memory"]
    assert families(handle, memory.format(12288000000)) == ["stale cache or CUDA library"]


REMAT = "W remat.cc:1] Can't reduce memory use below 12GiB by rematerialization; only reduced to 27GiB"


def test_a_warning_that_the_run_outlived_is_a_hint() -> None:
    steps = [f"step {n} loss 0.{n}" for n in range(6)]

    assert families(REMAT, *steps) == []
    assert families(REMAT, *steps[:1]) == ["device memory"]
    assert families(*steps, REMAT) == ["device memory"]
    assert families(REMAT, *steps, OUT) == ["device memory"]


def test_pinned_host_memory_is_of_the_host() -> None:
    pool = "Allocator (xla_gpu_host_bfc) ran out of memory trying to allocate 8.00GiB (rounded to 8589934592)"

    assert families(pool, *TRACEBACK) == ["host RAM"]
    assert families(pool.replace("xla_gpu_host_bfc", "GPU_0_bfc"), *TRACEBACK) == ["device memory"]
    assert families("XlaRuntimeError: RESOURCE_EXHAUSTED: Out of host memory") == ["host RAM"]


def test_a_worker_that_ends_abruptly_is_a_hint() -> None:
    diagnosis = diagnose(read("RuntimeError: DataLoader worker (pid(s) 8113) exited unexpectedly"))

    assert diagnosis.families == []
    assert [e.symptom for e in diagnosis.evidence] == ["worker-killed"]


# ---------------------------------------------------------------- several ranks


def test_ranks_that_a_launcher_ends_say_nothing_about_the_host(tmp_path: Path) -> None:
    diagnosis = of_files(
        tmp_path,
        {
            "rank0.log": ["2026-05-03 10:00:09,001 step 3", "exit code 137"],
            "rank1.log": ["2026-05-03 10:00:01,001 step 3", *TRACEBACK],
        },
    )

    assert [str(family) for family in diagnosis.families] == ["device memory"]
    assert any("a launcher ends the other processes" in note for note in diagnosis.notes)
    assert [e.proof for e in diagnosis.evidence if e.symptom == "killed"] == [False]
    assert not {"JAX401", "JAX402"} & set(diagnosis.rules)


def test_the_first_cause_leads_whatever_the_order_of_the_logs(tmp_path: Path) -> None:
    kernel = "[Sun May  3 10:00:01 2026] Out of memory: Killed process 8113 (python) anon-rss:9000000kB"
    late = {
        "rank0.log": ["2026-05-03 10:00:09,001 INFO all-reduce failed", *TRACEBACK],
        "dmesg.log": [kernel],
    }
    early = {
        "dmesg.log": [kernel.replace("10:00:01", "10:00:20")],
        "rank0.log": ["2026-05-03 10:00:09,001 INFO x", *TRACEBACK],
    }

    assert [str(f) for f in of_files(tmp_path, late).families] == ["host RAM", "device memory"]
    assert [str(f) for f in of_files(tmp_path, early).families] == ["device memory", "host RAM"]


def test_in_one_log_the_earlier_line_leads() -> None:
    kernel = "Out of memory: Killed process 8113 (python) anon-rss:9000000kB"

    assert families(kernel, *TRACEBACK) == ["host RAM", "device memory"]
    assert families(*TRACEBACK, kernel) == ["device memory", "host RAM"]


def test_a_kill_before_the_device_failed_is_kept() -> None:
    assert families("exit code 137", *TRACEBACK) == ["host RAM", "device memory"]


# ---------------------------------------------------------------- what the run survived


@pytest.mark.parametrize(
    "after",
    [
        [f"step {n} loss 0.{n}" for n in (3, 4)],
        [f"loss 0.{n} lr 0.1" for n in range(5)],
    ],
)
def test_a_run_that_went_on_is_said_to_have_done_so(after: list[str]) -> None:
    before = ["step 1 loss 0.9", "step 2 loss 0.8", "loss 0.5 lr 0.1"]
    found = read(*before, *TRACEBACK, "retrying with half the batch", *after)
    diagnosis = diagnose(found)

    assert diagnosis.survived
    assert "and the run went on after it" in text_report.text(diagnosis, found)


def test_what_it_died_of_comes_before_what_it_survived() -> None:
    before = ["step 1 loss 0.9", *TRACEBACK, "step 2 loss 0.8", "step 3 loss 0.8", "Killed"]

    assert families(*before) == ["host RAM", "device memory"]


def test_a_run_that_ends_there_went_nowhere() -> None:
    report = [
        f"2026-05-03 10:00:0{n} I xla/tsl/bfc_allocator.cc:1039] InUse at 7f{n} of size {n}" for n in range(9)
    ]
    found = read("step 1 loss 0.9", "step 2 loss 0.8", *report, *TRACEBACK, *report)

    assert not diagnose(found).survived


# ---------------------------------------------------------------- inputs


def test_a_pipe_that_nobody_writes_to_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "pipe.log"
    os.mkfifo(pipe)

    assert main(["triage", str(pipe)]) == 2
    assert "not a regular file" in capsys.readouterr().err
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_null_byte_in_a_name_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["triage", "run\0.log"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_samples_that_bear_a_rank_or_are_many_are_read() -> None:
    header = "index, memory.used [MiB], memory.total [MiB]"
    rows = [f"{index}, 10 MiB, 99 MiB" for index in range(100)]

    assert diagnose(read(header, *rows, rank="3")).families == []
