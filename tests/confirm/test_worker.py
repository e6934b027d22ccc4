"""The worker: user code that misbehaves costs its own request, and nothing is left running."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jaxlint.confirm.process import GIB, Raised, Unanswered, Worker

HOSTILE = {
    "exits": ("import sys; sys.exit(3)", "SystemExit"),
    "ends": ("import os; os._exit(5)", "os._exit, status 5"),
    "raises": ("raise ValueError('no such luck')", "ValueError: no such luck"),
    "hangs": ("while True: pass", "took longer than 3 s"),
    "crashes": ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
    "eats": (
        "import numpy\nheld = []\nwhile True: held.append(numpy.ones(1 << 24))",
        "needed more than 1.5 GiB",
    ),
    "stops itself": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
    "kills the worker": (
        "import os, signal, time; os.kill(os.getppid(), signal.SIGKILL); time.sleep(50)",
        "the worker was killed by SIGKILL$",
    ),
    "closes every file": ("import os; os.closerange(0, 200)", "could not answer"),
    "replaces what answers": ("import json; json.dumps = None", "could not answer"),
    "cannot be parsed": ("def f(:", "SyntaxError"),
}
# These do harm, but not to their own request.
RUDE = {
    "prints": "print('{\"id\": 1, \"value\": 2}', flush=True); import os; os.write(1, b'{}\\n'); os.write(2, b'x')",
    "forks": "import os, time\nif os.fork() == 0:\n    time.sleep(1000)",
    "forks and returns": "import os\nos.fork()",
    "detaches": (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(1000)\n"
        "    os._exit(0)"
    ),
    "moves": "import os; os.chdir('/')",
    "leaves threads": (
        "import threading, time\nfor _ in range(3): threading.Thread(target=time.sleep, args=(1000,)).start()"
    ),
    "reconfigures": "import jax; jax.config.update('jax_enable_x64', True)",
    "starts a backend": "import jax; jax.devices()",
}


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    directory = tmp_path_factory.mktemp("project")
    with Worker(sys.executable, directory=str(directory), memory=3 * GIB // 2) as worker:
        yield worker


def load(worker: Worker, directory: Path, source: str) -> object:
    path = directory / "program.py"
    path.write_text(source)
    try:
        return worker.ask("load", module="program", file=str(path), timeout=3 if "pass" in source else 60)
    finally:
        worker.leave()


@pytest.mark.parametrize("name", HOSTILE)
def test_user_code_that_ends_its_request_says_how_and_the_next_is_answered(
    worker: Worker, tmp_path: Path, name: str
) -> None:
    source, reason = HOSTILE[name]
    with pytest.raises((Unanswered, Raised), match=reason.replace("(", r"\(")):
        load(worker, tmp_path, source)
    assert load(worker, tmp_path, "x = 1") == {"name": "program", "file": str(tmp_path / "program.py")}


@pytest.mark.parametrize("name", RUDE)
def test_user_code_that_misbehaves_is_answered_and_so_is_the_next(
    worker: Worker, tmp_path: Path, name: str
) -> None:
    assert load(worker, tmp_path, RUDE[name])
    check = "import os, jax\nassert os.getcwd() != '/'\nassert not jax.config.jax_enable_x64\n"
    assert load(worker, tmp_path, check)


def test_nothing_is_left_running(tmp_path: Path) -> None:
    mark = f"left-by-{os.getpid()}-{time.monotonic_ns()}"
    command = [sys.executable, "-c", "import time; time.sleep(1000)", mark]
    sleeper = f"import os, time\nif os.fork() == 0:\n    SETSID\n    os.execv({command[0]!r}, {command!r})"
    with Worker(sys.executable, directory=str(tmp_path), preload=False) as worker:
        load(worker, tmp_path, sleeper.replace("SETSID", "pass"))
        load(worker, tmp_path, sleeper.replace("SETSID", "os.setsid()"))
        with pytest.raises(Unanswered):
            path = tmp_path / "hangs.py"
            path.write_text(sleeper.replace("SETSID", "pass") + "\nwhile True: pass\n")
            worker.ask("load", module="hangs", file=str(path), timeout=2)
    listed = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True)
    assert mark not in listed.stdout


_LEAVES = """
import os, subprocess
subprocess.Popen(COMMAND, start_new_session=True, env={})
subprocess.run(["sh", "-c", 'PROGRAM -c "$0" "$1" & exit 0', *COMMAND[2:]], start_new_session=True, env={})
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 64)
        os.execve(COMMAND[0], COMMAND, {})
    os._exit(0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what is left has another parent elsewhere")
@pytest.mark.parametrize("end", ["", "os._exit(0)", "while True: pass"])
def test_what_has_its_own_session_and_environment_is_ended(end: str, tmp_path: Path) -> None:
    mark = f"left-by-{os.getpid()}-{time.monotonic_ns()}"
    command = [sys.executable, "-c", "import time; time.sleep(100)", mark]
    source = _LEAVES.replace("COMMAND", repr(command)).replace("PROGRAM", sys.executable)
    with (
        Worker(sys.executable, directory=str(tmp_path), preload=False) as worker,
        contextlib.suppress(Unanswered),
    ):
        load(worker, tmp_path, source + end)
    listed = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True)
    assert mark not in listed.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="what is left has another parent elsewhere")
def test_an_orphan_that_ends_is_reaped_while_the_program_runs(worker: Worker, tmp_path: Path) -> None:
    source = """
import os, time
read, write = os.pipe()
if os.fork() == 0:
    orphan = os.fork()
    if orphan:
        os.write(write, b"%d" % orphan)
    os._exit(0)
os.wait()
orphan = int(os.read(read, 20))
until = time.monotonic() + 30
while os.path.exists(f"/proc/{orphan}") and time.monotonic() < until:
    time.sleep(0.01)
assert not os.path.exists(f"/proc/{orphan}")
"""
    assert load(worker, tmp_path, source)


def test_a_room_keeps_what_was_imported_and_a_new_one_has_forgotten_it(
    worker: Worker, tmp_path: Path
) -> None:
    counter = tmp_path / "count"
    path = tmp_path / "counted.py"
    path.write_text(f"open({str(counter)!r}, 'a').write('x')\n")
    for _ in range(2):
        worker.ask("load", module="counted", file=str(path), timeout=60)
    assert counter.read_text() == "x"
    worker.leave()
    worker.ask("load", module="counted", file=str(path), timeout=60)
    worker.leave()
    assert counter.read_text() == "xx"


def test_an_interpreter_that_is_not_there_is_a_reason(tmp_path: Path) -> None:
    with (
        Worker(str(tmp_path / "python"), directory=str(tmp_path)) as worker,
        pytest.raises(Unanswered, match="cannot be run"),
    ):
        worker.start()


def test_versions_are_told(worker: Worker) -> None:
    versions = worker.start()
    assert versions["jax"]
    assert versions["error"] is None
