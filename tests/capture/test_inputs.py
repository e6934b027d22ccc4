"""What can be given to `jaxlint oom`, and what is said of the rest: one line, exit status 2."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import subprocess
import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
from capture import made, simulated
from capture.places import FIXTURES, fixture
from capture.simulated import NEW, trained

from jaxlint.capture import lines, load, xspace
from jaxlint.capture.error import CaptureError
from jaxlint.capture.report import Report
from jaxlint.capture.written import Plane, field, message, space
from jaxlint.cli import main


def refused(capsys, path: Path, *options: str) -> str:
    """The one line that is said of an input that cannot be read."""
    assert main(["oom", str(path), *options]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    [line] = output.err.splitlines()
    return line


def read(path: Path, **wanted) -> Report:
    [found] = load.reports(path, load.Wanted(**wanted))
    assert isinstance(found, Report), found
    return found


# ---------------------------------------------------------------- what is refused


def test_what_is_not_there(capsys, tmp_path):
    assert "no such file" in refused(capsys, tmp_path / "none.xplane.pb")


def test_an_empty_file(capsys, tmp_path):
    assert "empty" in refused(capsys, simulated.write(tmp_path / "host.xplane.pb", b""))


def test_a_directory_without_captures(capsys, tmp_path):
    assert "neither a .xplane.pb file nor" in refused(capsys, tmp_path)


def test_a_compressed_capture_says_how_to_unpack_it(capsys, tmp_path):
    path = simulated.write(tmp_path / "host.xplane.pb.gz", gzip.compress(fixture("plain").read_bytes()))
    assert f"gzip -dk {path}" in refused(capsys, path)


@pytest.mark.parametrize("name", ["host.xplane.pb.gz", "host.xplane.pb", "a host.pb"])
def test_the_command_that_unpacks_a_capture_works_as_it_stands(name, capsys, tmp_path):
    path = simulated.write(tmp_path / name, gzip.compress(fixture("plain").read_bytes()))
    command = refused(capsys, path).rpartition("unpack it first: ")[2]
    subprocess.run(["sh", "-c", command], check=True, cwd="/")
    [unpacked] = set(tmp_path.iterdir()) - {path}
    assert unpacked.read_bytes() == fixture("plain").read_bytes()


def test_a_memory_profile_that_is_taken_for_a_capture(capsys):
    assert "--memory-prof" in refused(capsys, FIXTURES / "plain.memory.prof")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"just some text\nin two lines\n", "a text file"),
        (b'{"traceEvents": []}\n', "a text file"),
        (bytes(4096), "not a profiler capture"),
        (random.Random(0).randbytes(4096), "not a profiler capture"),
        (b"\x7fELF\x02\x01\x01" + bytes(100), "not a profiler capture"),
        (field(4, "host"), "without a plane"),
        (field(1, message((1, "jit_f"), (2, "main"), (3, b""))), "without its buffer assignment"),
        (field(1, b""), "nothing to report"),
        (space(Plane("/host:CPU").content(), Plane("/host:metadata").content()), "nothing to report"),
    ],
)
def test_what_is_no_capture(capsys, tmp_path, content, said):
    assert said in refused(capsys, simulated.write(tmp_path / "host.xplane.pb", content))


def test_a_device_or_a_pipe_is_not_waited_for(capsys, tmp_path):
    os.mkfifo(tmp_path / "pipe.xplane.pb")
    assert "not a regular file" in refused(capsys, tmp_path / "pipe.xplane.pb")


def test_a_capture_that_is_cut_off(capsys, tmp_path):
    content = fixture("plain").read_bytes()
    said = refused(capsys, simulated.write(tmp_path / "host.xplane.pb", content[: len(content) // 2]))
    assert "cut off" in said and "bytes are announced" in said


def test_a_module_or_a_device_that_is_not_in_it(capsys, tmp_path):
    path = simulated.write(tmp_path / "host.xplane.pb", trained("fits", NEW))
    assert "there are: jit_train_step(7)" in refused(capsys, path, "--module", "jit_other")
    assert "there are those of: 0" in refused(capsys, path, "--device", "5")


def test_a_bad_memory_profile(capsys, tmp_path):
    path = simulated.write(tmp_path / "memory.prof", b"no profile")
    assert "memory.prof" in refused(capsys, fixture("plain"), "--memory-prof", str(path))
    cut = (FIXTURES / "plain.memory.prof").read_bytes()[:300]
    assert "cut off" in refused(
        capsys, fixture("plain"), "--memory-prof", str(simulated.write(tmp_path / "cut.prof", cut))
    )


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process is read from /proc")
def test_large_files_cost_no_memory(tmp_path):
    """300 MB that are no capture, and a capture with a device plane of that size: both with little memory."""
    garbage, capture = tmp_path / "garbage.xplane.pb", tmp_path / "host.xplane.pb"
    with open(garbage, "wb") as stream:
        stream.truncate(300_000_000)
    with open(capture, "wb") as stream:
        stream.write(trained("fits", NEW))
        size = 300_000_000
        inner = message((1, 9), (2, "/device:GPU:9"))
        line = b"\x1a" + _varint(size)
        stream.write(b"\x0a" + _varint(len(inner) + len(line) + size) + inner + line)
        stream.truncate(stream.tell() + size)
    for path, status in ((garbage, 2), (capture, 0)):
        assert _peak(path) == (status, True)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _peak(path: Path) -> tuple[int, bool]:
    """The exit status, and whether it came with less than 100 MiB.

    `ru_maxrss` would be that of the process that started it, too: a child begins with its parent's memory.
    """
    program = (
        "import re, sys; from jaxlint.cli import main; status = main(sys.argv[1:]);"
        "peak = re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read());"
        "print(peak[1], file=sys.stderr); sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", program, "oom", path], capture_output=True, text=True)
    return done.returncode, int(done.stderr.split()[-1]) < 100 * 1024


@pytest.mark.parametrize("name", ["remat", "gradient", "kept_grads"])
def test_damage_is_one_line_or_a_report(name, tmp_path):
    """Cut off, with other bits, with bytes missing: never an exception that is not meant for people."""
    content = trained(name, NEW) if name == "kept_grads" else fixture(name).read_bytes()
    chance = random.Random(name)
    path = tmp_path / "host.pb"
    for attempt in range(24):
        damaged = bytearray(content)
        at = chance.randrange(len(content))
        if attempt % 3 == 0:
            del damaged[at:]
        elif attempt % 3 == 1:
            damaged[at] ^= 1 << chance.randrange(8)
        else:
            del damaged[at : at + chance.randrange(1, 40)]
        path.write_bytes(damaged)
        try:
            found = list(load.reports(path, load.Wanted()))
        except CaptureError as error:
            found = [error]
        assert all("\n" not in str(error) for error in found if isinstance(error, CaptureError))


# ---------------------------------------------------------------- what is read


def test_nothing_is_written_beside_a_capture(tmp_path):
    path = simulated.write(tmp_path / "host.xplane.pb", trained("fits", NEW))
    before = path.stat()
    assert main(["oom", str(path)]) == 0 and main(["oom", str(tmp_path)]) == 0
    assert [entry.name for entry in tmp_path.iterdir()] == ["host.xplane.pb"]
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_a_profilers_directory_is_its_newest_run(tmp_path):
    for run, name in (("2026_01_02_10_00_00", "old"), ("2026_01_02_11_00_00", "new")):
        directory = tmp_path / "plugins" / "profile" / run
        directory.mkdir(parents=True)
        simulated.write(directory / f"{name}.xplane.pb", trained("fits", NEW))
    os.utime(tmp_path / "plugins" / "profile" / "2026_01_02_10_00_00" / "old.xplane.pb")
    assert Path(read(tmp_path).path).name == "new.xplane.pb"


def test_all_hosts_of_a_run_are_read_the_tightest_first(tmp_path, capsys):
    simulated.write(tmp_path / "a.xplane.pb", trained("fits", NEW))
    simulated.write(tmp_path / "b.xplane.pb", trained("nodonate", NEW))
    assert main(["oom", str(tmp_path)]) == 0
    heads = [line for line in capsys.readouterr().out.splitlines() if ".xplane.pb" in line]
    assert [Path(line.split(" (")[0]).name for line in heads] == ["b.xplane.pb", "a.xplane.pb"]


def test_a_damaged_host_does_not_hide_the_others(tmp_path, capsys):
    simulated.write(tmp_path / "a.xplane.pb", trained("fits", NEW))
    simulated.write(tmp_path / "b.xplane.pb", b"")
    assert main(["oom", str(tmp_path)]) == 2
    output = capsys.readouterr()
    assert "fits:" in output.out and "b.xplane.pb: empty" in output.err


def test_a_dump_of_texts_gives_the_plan_of_its_proto():
    dumped, proto = read(FIXTURES / "dump").plan, read(fixture("gradient")).plan
    assert dumped.totals == proto.totals._replace(donated_count=dumped.totals.donated_count)
    assert dumped.heap_peak == proto.heap_peak
    assert dumped.by_role() == proto.by_role()
    largest = [(b.size, str(b.shape), b.role) for b in dumped.buffers if b.size > 1000]
    assert largest == [(b.size, str(b.shape), b.role) for b in proto.buffers if b.size > 1000]
    lines = {frame.line for b in dumped.buffers for frame in b.frames}
    assert lines == {frame.line for b in proto.buffers for frame in b.frames}


def test_a_dump_without_live_ranges_is_worked_out_from_its_schedule(tmp_path):
    for file in (FIXTURES / "dump").iterdir():
        if "live-range" not in file.name:
            shutil.copy(file, tmp_path)
    plan = read(tmp_path).plan
    assert plan.totals.temp == read(fixture("gradient")).plan.totals.temp
    assert plan.heap_peak == read(fixture("gradient")).plan.heap_peak and not plan.traced


def _seen(plan):
    return Counter(
        (b.size, str(b.shape), b.role, b.stacked, b.loop * bool(b.stacked), str(b.frames[:1]))
        for b in plan.buffers
    )


def test_a_dump_of_texts_tells_the_same_of_a_scan_as_its_module():
    dump = FIXTURES / "scan_dump"
    by_text, by_module = read(dump).plan, read(next((dump / "proto").iterdir())).plan
    assert by_text.totals == by_module.totals
    assert (by_text.heap_peak, by_text.peak_instruction) == (by_module.heap_peak, by_module.peak_instruction)
    large = {seen: count for seen, count in _seen(by_module).items() if seen[0] >= 1024}
    assert {seen: count for seen, count in _seen(by_text).items() if seen[0] >= 1024} == large
    stacks = [b for b in by_text.buffers if b.stacked]
    assert len(stacks) == 7 and {b.loop for b in stacks} == {"while.17"}


def test_a_stacked_carry_is_named_by_what_computes_it():
    plan = read(next((FIXTURES / "scan_dump" / "proto").iterdir())).plan
    [carry] = [b for b in plan.buffers if b.stacked.endswith("/closed_call/add")]
    assert str(carry.frames[0]) == "train/scan.py:9"


# ---------------------------------------------------------------- TPUs


def _of_tpu(*, ran: bool = True) -> bytes:
    """A capture with a module and two TPUs, as XProf names their lines; written by hand."""
    metadata, host = Plane("/host:metadata"), Plane("/host:CPU")
    metadata.module("jit_step(1)", 1, made.hlo(made.WORKSPACE))
    metadata.module("jit_init(2)", 2, made.hlo(made.WORKSPACE, "jit_init"))
    host.event("python", "PjitFunction(init)", 0, 10)
    tpus = [Plane(f"/device:TPU:{number}") for number in range(2)]
    for plane in tpus:
        plane.event("Steps", "1", 0, 500)
        plane.event("XLA Ops", "%fusion.1", 0, 100)
        for start in range(0, 500 * ran, 100):
            plane.event("XLA Modules", "jit_step(1234567)", start, 90)
    return space(metadata.content(), host.content(), *(plane.content() for plane in tpus))


def test_what_ran_on_a_tpu_is_counted_and_the_rest_said_to_be_unknown(tmp_path):
    report = read(simulated.write(tmp_path / "host.xplane.pb", _of_tpu()))
    assert report.plan.module == "jit_step(1)" and report.reason == "the largest that ran"
    [claim] = [c for c in report.claims if c.slug == "on-tpu"]
    assert "jit_step ran 5 times on 2 of 2 TPUs" in claim.text and "is not in it" in " ".join(
        claim.text.split()
    )
    assert not [c for c in report.claims if c.slug in ("no-allocator-events", "never-launched")]


def test_a_tpu_without_a_line_of_modules_is_still_named(tmp_path):
    report = read(simulated.write(tmp_path / "host.xplane.pb", _of_tpu(ran=False)))
    [claim] = [c for c in report.claims if c.slug == "on-tpu"]
    assert "2 TPUs are in it" in claim.text


# ---------------------------------------------------------------- memory


def test_events_that_do_not_matter_cost_no_memory_where_they_are_out_of_order():
    """20,000 events of which two enclose an allocation: the others are looked at and let go."""
    plane = Plane("/host:CPU")
    for number in range(20_000):
        plane.event("python", f"$step.py:{number % 7} f", (number ^ 1) * 10, 5)
    plane.event("python", "MemoryAllocation", 55, 0, {"allocation_bytes": 256, "bytes_allocated": 256})
    plane.event("python", "late", 50, 8)
    data = space(plane.content(ordered=False))
    [found] = xspace.planes(data)
    [line] = lines.lines(data, found)
    names = xspace.names(data, found).events
    wanted = {identity for identity, entry in names.items() if entry.name == "MemoryAllocation"}
    tracemalloc.start()
    kept = [names[identity].name for _, _, identity, _, _ in lines.sorted_events(data, line, wanted)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert kept == ["late", "$step.py:4 f", "MemoryAllocation"]
    assert peak < 2_000_000


def test_more_executions_than_any_profiler_keeps_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("jaxlint.capture.runtime._MOST_EXECUTIONS", 2)
    path = simulated.write(tmp_path / "host.xplane.pb", trained("kept_grads", NEW))
    assert "more than 2 executions" in refused(capsys, path)


@pytest.mark.parametrize("option", ["--module", "--memory-prof", "--html", "--json", "--source"])
def test_an_empty_name_is_no_name(option, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["oom", str(fixture("plain")), option, ""])
    assert stopped.value.code == 2
    assert "an empty name" in capsys.readouterr().err


def test_a_module_is_not_found_by_the_beginning_of_its_name(capsys):
    assert "no module jit_st" in refused(capsys, fixture("plain"), "--module", "jit_st")


@pytest.fixture
def modules(tmp_path):
    """A directory with three modules, a file for each."""
    for name in ("gradient", "decode", "fits"):
        shutil.copy(fixture(name), tmp_path / f"{name}.hlo_proto.pb")
    return tmp_path


def test_the_module_that_was_asked_for_is_found_among_files_without_it(capsys, modules):
    assert main(["oom", str(modules), "--module", "jit_decayed"]) == 0
    said = capsys.readouterr()
    assert said.err == "" and said.out.count("plan of ") == 1 and "plan of jit_decayed" in said.out


def test_a_module_that_is_in_none_of_several_files_is_one_line(capsys, modules):
    said = refused(capsys, modules, "--module", "jit_other")
    assert said.count("\n") <= 1 and "jit_decayed" in said


def test_a_damaged_file_beside_the_module_that_was_asked_for_is_still_told(capsys, modules):
    (modules / "broken.hlo_proto.pb").write_bytes(bytes(4096))
    assert main(["oom", str(modules), "--module", "jit_decayed"]) == 2
    assert "broken.hlo_proto.pb" in capsys.readouterr().err


def test_a_device_of_one_host_is_found_among_hosts_without_it(capsys, tmp_path):
    simulated.write(tmp_path / "one.xplane.pb", trained("fits", NEW))
    shutil.copy(fixture("plain"), tmp_path / "two.xplane.pb")
    assert main(["oom", str(tmp_path), "--device", "0"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["oom", str(tmp_path), "--device", "7"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_modules_as_xprof_stores_them_are_read_from_a_directory(tmp_path):
    shutil.copy(fixture("gradient"), tmp_path / "jit_decayed.hlo_proto.pb")
    assert read(tmp_path).plan.module == "jit_decayed"


def test_a_module_is_found_by_its_name_with_and_without_id():
    for name in ("jit_step", "jit_step(0)", "step"):
        assert read(fixture("plain"), module=name).plan.module == "jit_step(0)"
