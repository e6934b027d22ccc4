"""Programs run as they would without us, whatever they are and however they end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from recorded_programs import QUIET, Run

from jaxlint.recording.history import read
from jaxlint.recording.unreadable import Unreadable

TRACED = "import jax\nstep = jax.jit(lambda x: x + 1)\nstep(1.0)\n"


def names(path: Path) -> list[str]:
    return [b.name for b in read(str(path / "record.jsonl")).boundaries if b.traces]


@pytest.mark.parametrize("how", ["script", "-m", "-c", "console script"])
def test_kinds_of_programs(how: str, run: Run, tmp_path: Path) -> None:
    show = "import sys, os\nprint(sys.argv[1:], __name__, os.path.basename(sys.path[0] or ''))\n"
    package = tmp_path / "package"
    package.mkdir()
    (package / "__main__.py").write_text(TRACED + show)
    (tmp_path / "script.py").write_text(TRACED + show)
    (tmp_path / "tool").write_text(f"#!{sys.executable}\n{TRACED}{show}")
    (tmp_path / "tool").chmod(0o755)
    command = {
        "script": [sys.executable, "script.py"],
        "-m": [sys.executable, "-m", "package"],
        "-c": [sys.executable, "-c", TRACED + show],
        "console script": [str(tmp_path / "tool")],
    }[how]
    bare = subprocess.run(
        [*command, "a", "-b"], cwd=tmp_path, env=QUIET, capture_output=True, text=True, timeout=120
    )
    done = run(*command, "a", "-b")
    assert (done.returncode, done.stdout) == (bare.returncode, bare.stdout)
    assert "['a', '-b'] __main__" in done.stdout
    assert names(tmp_path) == ["<lambda>"]


def test_standard_input_and_streams(run: Run, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "jaxlint", "record", "--", sys.executable, "-"],
        input="import sys\nprint('out')\nprint('err', file=sys.stderr)\n",
        cwd=tmp_path,
        env=QUIET,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("out\n", "err\n")
    assert (tmp_path / "jaxlint-record.jsonl").exists()


@pytest.mark.parametrize(
    "end, status", [("raise SystemExit(7)", 7), ("1 / 0", 1), ("import os; os._exit(3)", 3)]
)
def test_status_is_passed_on(end: str, status: int, run: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(f"{TRACED}{end}\n")
    assert run(sys.executable, "program.py").returncode == status
    assert names(tmp_path) == ["<lambda>"]


_DEPRECATED = """
import jax.experimental.pjit
try:
    from jax.experimental.pjit import pjit
except DeprecationWarning as warning:
    print("warned")
else:
    print("given", pjit(lambda x: x)(1.0))
"""


@pytest.mark.parametrize("action", ["error", "ignore"])
def test_deprecated_maker_warns_the_program_alone(action: str, run: Run, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(_DEPRECATED)
    command = [sys.executable, "-W", f"{action}::DeprecationWarning", str(program)]
    bare = subprocess.run(command, env=QUIET, capture_output=True, text=True, check=True)
    done = run(*command)
    assert (done.returncode, done.stdout) == (0, bare.stdout), done.stderr
    traced = '"api": "jax.pjit"' in (tmp_path / "record.jsonl").read_text()
    assert traced == ("given" in bare.stdout)


def test_what_was_raised(run: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(f"{TRACED}def inner():\n    1 / 0\ninner()\n")
    bare = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=QUIET, capture_output=True, text=True, timeout=60
    )
    done = run(sys.executable, "program.py")
    assert done.stderr.splitlines()[-5:] == bare.stderr.splitlines()[-5:]
    (raised,) = read(str(tmp_path / "record.jsonl")).raised
    assert (raised.kind, raised.kinds[1]) == ("ZeroDivisionError", "ArithmeticError")
    assert [site.line for site in raised.stack] == [5, 6]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_signals_reach_the_program(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        f"{TRACED}print('ready', flush=True)\nimport time\ntime.sleep(100)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "jaxlint", "record", "-o", "record.jsonl", "--", sys.executable, "program.py"],
        cwd=tmp_path,
        env=QUIET,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Of a shell's background job the children ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == -number
    assert names(tmp_path) == ["<lambda>"]


def test_child_processes(run: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        textwrap.dedent(
            """
            import multiprocessing, os, subprocess, sys

            def work(n):
                import jax
                def worked(x): return x + n
                return float(jax.jit(worked)(1.0))

            if __name__ == "__main__":
                with multiprocessing.get_context("spawn").Pool(2) as pool:
                    print(pool.map(work, [1, 2]))
                if os.fork() == 0:
                    work(3)
                    os._exit(0)
                os.wait()
                code = "import jax\\ndef called(x): return x\\njax.jit(called)(1.0)"
                subprocess.run([sys.executable, "-c", code], env=dict(os.environ, ANOTHER="1"), check=True)
            """
        )
    )
    done = run(sys.executable, "program.py")
    assert done.returncode == 0, done.stderr
    history = read(str(tmp_path / "record.jsonl"))
    assert sorted(set(names(tmp_path))) == ["called", "work.<locals>.worked"]
    assert len({boundary.pid for boundary in history.boundaries}) >= 3
    assert "[2.0, 3.0]" in done.stdout


def test_own_sitecustomize_still_runs(run: Run, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import builtins\nbuiltins.customised = True\n")
    code = "import sys; print(customised, sys.modules['sitecustomize'].__file__, sys.path)"
    done = run(sys.executable, "-c", code, PYTHONPATH=str(tmp_path / "site"))
    assert done.stdout.startswith(f"True {tmp_path / 'site' / 'sitecustomize.py'}")
    assert "hook" not in done.stdout
    without = run(sys.executable, "-c", "import sys; print('sitecustomize' in sys.modules)")
    assert without.stdout == "False\n"


def test_program_that_closes_descriptors_and_moves(run: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(f"import os\nos.closerange(3, 100)\nos.chdir('/')\n{TRACED}")
    assert run(sys.executable, "program.py").returncode == 0
    assert names(tmp_path) == ["<lambda>"]


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        ([], "no program"),
        (["--", "no-such-program"], "no-such-program: there is no such program"),
        (["-o", "missing/record", "--", sys.executable], "cannot write"),
        (["--report", "nothing.jsonl"], "nothing.jsonl: cannot read"),
        (["--report", __file__], "no record of `jaxlint record`"),
        (["--report", "x", "-o", "y"], "--report shows a record"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], complaint: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "jaxlint", "record", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


def test_program_without_jax(run: Run, tmp_path: Path) -> None:
    done = run(sys.executable, "-c", "print('hello')")
    assert (done.stdout, done.stderr) == ("hello\n", "")
    shown = report(tmp_path)
    assert "no process imported jax" in shown


def test_jax_that_is_too_old(run: Run, tmp_path: Path) -> None:
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax" / "__init__.py").write_text("__version__ = '0.4.20'\n")
    done = run(sys.executable, "-c", "import jax; print('hello')", PYTHONPATH=str(tmp_path))
    assert done.stdout == "hello\n"
    assert "jax 0.4.20 is too old to be recorded, 0.4.35 is the oldest" in report(tmp_path)


def test_report(run: Run, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import jax\nf = jax.jit(lambda x: x + 1)\nfor n in (1, 2):\n    f(jax.numpy.ones(n))\n"
    )
    run(sys.executable, "program.py")
    shown = report(tmp_path)
    assert "jax.jit <lambda> (program.py:2): 2 traces, 2 compiles" in shown
    assert "    2 at program.py:4: x: float32[1] -> float32[2]" in shown
    data = json.loads(report(tmp_path, "--output-format", "json"))
    (change,) = data["boundaries"][0]["traces"][1]["changes"]
    assert change == {"cause": "shape", "name": "x", "before": "float32[1]", "after": "float32[2]"}
    assert "changed since" not in shown
    program.write_text("# edited\n")
    assert "changed since: program.py" in report(tmp_path)


def test_damaged_record(run: Run, tmp_path: Path) -> None:
    run(sys.executable, "-c", TRACED)
    path = tmp_path / "record.jsonl"
    path.write_bytes(path.read_bytes() + b'{"kind": "tra')
    path.write_bytes(path.read_bytes() + b'\n{"kind": "trace"}\n{"kind": 5}\n')
    assert "3 lines of the record cannot be read" in report(tmp_path)
    path.write_text('{"kind": "run", "format": 99, "jaxlint": "9.0"}\n')
    with pytest.raises(Unreadable, match=r"of another jaxlint \(9.0\)"):
        read(str(path))


def report(tmp_path: Path, *options: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "jaxlint", "record", "--report", "record.jsonl", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
