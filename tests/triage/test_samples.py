"""Memory samples in the formats people have, and whether a series grows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from jaxlint.triage.evidence import Place
from jaxlint.triage.progress import Progress
from jaxlint.triage.reading import Line
from jaxlint.triage.samples import Samples
from jaxlint.triage.series import Sample, Series

MIB, GIB = 1 << 20, 1 << 30
HOST, RSS = "host (no unit: read as MiB)", "rss (no unit: read as KiB)"


def read(text: str) -> Samples:
    samples, progress = Samples(), Progress()
    for number, line in enumerate(text.strip("\n").splitlines(), 1):
        samples.feed(Line("run.log", number, line), progress.feed(Line("run.log", number, line)))
    return samples


def used(samples: Samples) -> dict[str, list[int]]:
    return {name: [s.used for s in series.samples] for name, series in samples.series.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("timestamp, memory.used [MiB]\n2026/05/03 11:00:00.101, 2100 MiB", {"gpu 0": [2100 * MIB]}),
        ("2026/05/03 11:00:00.101, 2100 MiB", {"gpu 0": [2100 * MIB]}),  # noheader
        ("2026/05/03 11:00:00.101, 2100", {"gpu 0": [2100 * MIB]}),  # nounits
        (
            "index, memory.used [MiB], memory.total [MiB]\n0, 10 MiB, 99 MiB\n1, 20 MiB, 99 MiB",
            {"gpu 0": [10 * MIB], "gpu 1": [20 * MIB]},
        ),
        (
            "|   1  NVIDIA L4                      On  |   00000000:00:03.0 Off |                    0 |\n"
            "| NA   73C    P0             35W      72W |   17058MiB /  23034MiB |      0%      Default |",
            {"gpu 1": [17058 * MIB]},
        ),
        (
            "timestamp, memory.free [MiB], memory.total [MiB]\n2026/05/03 11:00:00.101, 70 MiB, 99 MiB",
            {"gpu 0": [29 * MIB]},
        ),
        ("timestamp, memory.free [MiB]\n2026/05/03 11:00:00.101, 70 MiB", {}),
        ("memory.total [MiB], memory.free [MiB]\n99 MiB, [N/A]", {}),
        ("2026/05/03 11:00:00.101, 3, 10 MiB, 99 MiB", {"gpu 3": [10 * MIB]}),
        ("2026/05/03 11:00:00.101, 30 %, 10 MiB", {"gpu 0": [10 * MIB]}),
        ("2026/05/03 11:00:00.101, 30, 10, 99", {}),
        ("2026/05/03 11:00:00.101, 10 MiB, 89 MiB, 99 MiB", {}),  # in use, or free?
        (
            "timestamp, pci.bus_id, memory.used [MiB]\n2026/05/03 11:00:00.101, 00000000:01:00.0, 10 MiB\n"
            "2026/05/03 11:00:00.101, 00000000:02:00.0, 20 MiB",
            {"gpu 00000000:01:00.0": [10 * MIB], "gpu 00000000:02:00.0": [20 * MIB]},
        ),
        (
            "timestamp, uuid, memory.used [MiB]\n2026/05/03 11:00:00.101, GPU-a, 10 MiB\n"
            "2026/05/03 11:00:00.101, GPU-b, 20 MiB",
            {"gpu GPU-a": [10 * MIB], "gpu GPU-b": [20 * MIB]},
        ),
        (
            "timestamp, name, memory.used [MiB]\n2026/05/03 11:00:00.101, H100, 10 MiB\n"
            "2026/05/03 11:00:00.104, H100, 20 MiB\n2026/05/03 11:00:05.101, H100, 11 MiB\n"
            "2026/05/03 11:00:05.104, H100, 21 MiB",
            {"gpu 0 (H100)": [10 * MIB, 11 * MIB], "gpu 1 (H100)": [20 * MIB, 21 * MIB]},
        ),
        (
            "timestamp, memory.used [MiB]\n2026/05/03 11:00:00.100, 10 MiB\n2026/05/03 11:00:00.200, 20 MiB",
            {"gpu 0": [10 * MIB, 20 * MIB]},  # one GPU, every 100 ms
        ),
        ("cuda:0 {'bytes_in_use': 1}\ncuda:1 {'bytes_in_use': 2}",
         {"gpu 0 bytes_in_use": [1], "gpu 1 bytes_in_use": [2]}),
        ("CudaDevice(id=1): bytes_in_use=7", {"gpu 1 bytes_in_use": [7]}),
        ("[{'bytes_in_use': 1}, {'bytes_in_use': 2}]",
         {"gpu bytes_in_use": [1], "gpu bytes_in_use (no. 2 at each step)": [2]}),
        ("step 1\n{'bytes_in_use': 1}\n{'bytes_in_use': 2}\nstep 2\n{'bytes_in_use': 3}\n{'bytes_in_use': 4}",
         {"gpu bytes_in_use": [1, 3], "gpu bytes_in_use (no. 2 at each step)": [2, 4]}),
        ("free host memory: 12 GB", {}),
        ("available RAM used: 12 GB", {}),
        ("12:00:05 12 GB used", {"host": [12 * GIB]}),
        ("12:00:05 3.5 GB RSS", {"rss": [int(3.5 * GIB)]}),
        ("12:00:00 9100\n12:00:05 9111\n12:00:10 9102", {HOST: [9100 * MIB, 9111 * MIB, 9102 * MIB]}),
        ("12:00:00 9100\n12:00:05 9111", {}),  # two lines of a time and a number may be anything
        ("12:00:00 128\n12:00:05 256\n12:00:10 384\n12:00:15 512", {}),  # a counter
        ("12:00:00 3\n12:00:05 7\n12:00:10 4", {}),
        ("12:00:00 2097152\n12:00:05 2098176\n12:00:10 2099999", {RSS: [2 * GIB, 2049 * MIB, 2099999 << 10]}),
        (" 2097152\n 2098176\n 2099999", {RSS: [2 * GIB, 2049 * MIB, 2099999 << 10]}),  # ps -o rss= alone
        ("2097152\n2098176\n2099999\nloss 0.3", {}),  # numbers of a program
        ("step 1\n2097152\n2098176\n2099999", {}),
        ("  RSS\n2097152\n  RSS\n1048576", {"rss": [2 * GIB, GIB]}),
        ("  RSS    VSZ\n2097152 9999999", {"rss": [2 * GIB]}),
        ("memory: 1234\nmemory: 1240\nmemory: 1300", {}),
        ("replay memory: 1234 transitions", {}),
        ("host memory: 512 b", {"rss": [512]}),
        ("Mem: 1234 5678", {}),  # not of `free`
        ("Mem: 1234 5678 9999", {}),
        ("VmRSS:\t 2097152 kB", {"rss": [2 * GIB]}),
        ("RSS (MB): 2048", {"rss": [2 * GIB]}),
        ("RSS feeds: 12 M", {}),
        ("rss: 123456", {}),  # of what?
        ("pmem(rss=2147483648, vms=9, shared=1)", {"rss": [2 * GIB]}),
        ("Mem:           64243       12000       40000", {"host": [12000 * MIB]}),
        ("Mem:        65784832    12288000    40000000", {"host": [12000 * MIB]}),
        ("Mem:            62Gi       7.5Gi        40Gi", {"host": [int(7.5 * GIB)]}),
        ("    PID    PPID   RSS CMD\n  4211    4200  2048 python train.py", {"rss 4211": [2 * MIB]}),
        (
            "USER       PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n"
            "me        4211  0.0  0.1 688844  1024 ?        R    22:54   0:16 python train.py",
            {"rss 4211": [MIB]},
        ),
        ("step 3 rss=2048 MiB loss 0.2", {"rss": [2 * GIB]}),
        ("{'num_allocs': 7, 'bytes_in_use': 4096, 'peak_bytes_in_use': 9999}", {"gpu bytes_in_use": [4096]}),
        ("loss 0.2 at 12:00:05", {}),
        ("timestamp, memory.used [MiB]\n2026/05/03 11:00:00.101, [N/A]", {}),
    ],
)  # fmt: skip
def test_a_format_is_read(text: str, expected: dict[str, list[int]]) -> None:
    assert used(read(text)) == expected


def test_time_goes_on_over_midnight() -> None:
    (series,) = read("23:59:58 10 GB used\n00:00:03 11 GB used").series.values()

    assert (series.samples[1].when or 0) - (series.samples[0].when or 0) == 5


def test_a_sample_knows_the_step_before_it() -> None:
    (series,) = read("step 7 loss 0.1\n12:00:05 12 GB used").series.values()

    assert series.samples[0].step == 7


def test_processes_of_the_table_and_of_ps_are_one() -> None:
    samples = read(
        "|    0   N/A  N/A     26141      C   ...v0/bin/python      17050MiB |\n"
        "    PID    PPID   RSS CMD\n  26141       1  2048 python old.py\n"
    )

    assert [(p.pid, p.on_gpu, p.parent) for p in samples.processes.orphans()] == [(26141, 17050 * MIB, 1)]


ON_GPU = "pid, process_name, used_gpu_memory [MiB]\n"
PYTHON = ON_GPU + "42, python, 9 MiB\n"
TABLE = "| Processes: |\n|    0   N/A  N/A     {}      C   python      9MiB |\n"


@pytest.mark.parametrize(
    ("text", "pids"),
    [
        (PYTHON + "  PID  PPID CMD\n   42     1 python old.py", [42]),
        (PYTHON + " PID PPID CMD\n 1 0 /sbin/init\n 42 1 python old.py", [42]),
        (PYTHON + " PID PPID CMD\n 18 1 /lib/systemd/systemd --user\n 42 18 python old.py", [42]),
        (PYTHON + " PID PPID CMD\n 18 1 tmux: server\n 42 18 python train.py", []),
        # in a container PID 1 is what starts it
        (PYTHON + " PID PPID CMD\n 1 0 /usr/bin/tini -- run.sh\n 42 1 python train.py", []),
        (ON_GPU + "42, tritonserver, 9 MiB\n PID PPID CMD\n 42 1 tritonserver --model-repository=/m", []),
        (PYTHON + " PID PPID CMD\n 42 1 python -m vllm.entrypoints.api", []),
        # gone from the second listing
        (PYTHON + " PID PPID CMD\n 42 1 python old.py\n" + ON_GPU + "43, python, 9 MiB", []),
        (PYTHON + " PID PPID CMD\n 42 1 python old.py\n" + ON_GPU + "42, python, 9 MiB", [42]),
        (
            TABLE.format(42) + " PID PPID CMD\n 42 1 python old.py\n" + TABLE.format(43),
            [],
        ),
    ],
)  # fmt: skip
def test_who_has_lost_its_launcher(text: str, pids: list[int]) -> None:
    assert [process.pid for process in read(text).processes.orphans()] == pids


# ---------------------------------------------------------------- growth


def series_of(values: Sequence[int]) -> Series:
    series = Series("gpu 0", on_device=True)
    for index, value in enumerate(values):
        series.add(Sample(Place("run.log", index + 1), value * MIB, None, index))
    return series


@pytest.mark.parametrize(
    "values",
    [
        [61000] * 40,
        [100, 9000] + [61000] * 30,  # preallocation
        [1000, 5000, 9000, 12000, 14000] + [15000] * 30,  # a data set that is loaded, and stays
        [1000 + 900 * (i % 5) for i in range(40)],  # batches come and go
        [1000 + i for i in range(40)],  # 40 MiB in all
        [9000 - 200 * i for i in range(30)],
        [100, 200, 5000],
    ],
    ids=["flat", "pool", "plateau", "saw", "little", "falls", "few"],
)
def test_what_does_not_go_on_is_no_growth(values: list[int]) -> None:
    assert series_of(values).growth() is None


@pytest.mark.parametrize(
    ("values", "in_stairs"),
    [
        ([1000 + 104 * i for i in range(20)], False),
        ([1000 + 400 * (i // 5) for i in range(40)], True),
        ([1000 + 200 * i + 90 * (i % 2) for i in range(30)], False),
    ],
    ids=["steady", "stairs", "noisy"],
)
def test_what_goes_on_is_growth(values: list[int], in_stairs: bool) -> None:
    growth = series_of(values).growth()

    assert growth is not None
    assert growth.in_stairs is in_stairs
    assert growth.of == "step"


def test_a_long_series_keeps_its_ends_and_little_between() -> None:
    series = series_of(range(100_000))

    assert len(series.samples) <= 4097
    assert series.last > 90_000 * MIB
    assert series.seen == 100_000
