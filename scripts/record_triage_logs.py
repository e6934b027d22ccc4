#!/usr/bin/env python3
"""Make the logs below fixtures/logs/real and fixtures/logs/matrix again: casebook programs, run on the CPU.

    python scripts/record_triage_logs.py 0.4.35=/venvs/a/bin/python 0.10.2=/venvs/b/bin/python [--only NAME]

Each interpreter needs the jax of the version it is named for, with equinox, flax and optax. Runs whose version
is not given are left as they are. The path of the virtual environment becomes /venv and that of the program
/home/user/project; nothing else is changed.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "fixtures" / "casebook" / "cases"
LOGS = ROOT / "fixtures" / "logs" / "real"
MATRIX = ROOT / "fixtures" / "logs" / "matrix"


class Run(NamedTuple):
    """A log to make: the jax, the casebook program, and how it is run."""

    jax: str
    case: str
    program: str
    how: str = "compiles"

    @property
    def name(self) -> str:
        ending = "" if self.how == "compiles" else f"-{self.how}"
        return f"{self.jax}-{self.case}-{self.program}{ending}.log"


RUNS = (
    Run("0.4.35", "016-filter-jit-python-step", "bad"),
    Run("0.4.35", "030-static-drift-closures-sde", "bad"),
    Run("0.4.35", "016-filter-jit-python-step", "good"),
    Run("0.5.3", "020-active-pairs-nonzero", "bad"),
    Run("0.5.3", "023-kv-cache-concatenate", "good"),
    Run("0.6.2", "030-static-drift-closures-sde", "bad"),
    Run("0.6.2", "014-video-clips-native-length", "good"),
    Run("0.7.2", "023-kv-cache-concatenate", "bad"),
    Run("0.7.2", "131-simulation-frames-kept", "bad", "no-memory"),
    Run("0.8.2", "001-sweep-closure-jit", "bad"),
    Run("0.8.2", "001-sweep-closure-jit", "good"),
    Run("0.9.2", "038-lax-map-postprocess-closure", "bad"),
    Run("0.9.2", "044-batch-dict-optional-key", "bad"),
    Run("0.10.2", "016-filter-jit-python-step", "bad"),
    Run("0.10.2", "022-unique-tokens-embedding", "bad"),
    Run("0.10.2", "026-nnx-optimizer-recreated", "bad"),
    Run("0.10.2", "036-scan-partial-eager", "bad"),
    Run("0.10.2", "036-scan-partial-eager", "good"),
    Run("0.10.2", "131-simulation-frames-kept", "bad", "killed"),
    Run("0.10.2", "001-sweep-closure-jit", "good", "stale-cache"),
    Run("0.10.2", "131-simulation-frames-kept", "good", "sampled"),
)


# Run with every jax that is given: case, program, how. fixtures/logs/matrix has a folder for each version.
EVERYWHERE = (
    ("001-sweep-closure-jit", "bad", "compiles"),
    ("001-sweep-closure-jit", "good", "compiles"),
    ("001-sweep-closure-jit", "good", "stale-cache"),
    ("016-filter-jit-python-step", "bad", "compiles"),
    ("016-filter-jit-python-step", "good", "compiles"),
    ("020-active-pairs-nonzero", "bad", "compiles"),
    ("023-kv-cache-concatenate", "bad", "compiles"),
    ("023-kv-cache-concatenate", "good", "compiles"),
    ("030-static-drift-closures-sde", "bad", "compiles"),
    ("036-scan-partial-eager", "bad", "compiles"),
    ("131-simulation-frames-kept", "bad", "killed"),
    ("131-simulation-frames-kept", "bad", "no-memory"),
)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pythons", nargs="+", metavar="VERSION=PYTHON")
    parser.add_argument("--only", default="", help="runs with this in their name")
    args = parser.parse_args()
    pythons = dict(pair.split("=", 1) for pair in args.pythons)
    LOGS.mkdir(parents=True, exist_ok=True)
    for run in RUNS:
        if run.jax in pythons and args.only in run.name:
            text = record(run, pythons[run.jax])
            (LOGS / run.name).write_text(text, encoding="utf-8")
            print(run.name, text.count("\n"), "lines")
    for jax, python in pythons.items():
        for run in (Run(jax, *program) for program in EVERYWHERE):
            if args.only in run.name:
                target = MATRIX / jax / f"{run.name.removeprefix(f'{jax}-')}.gz"
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(gzip.compress(record(run, python).encode(), mtime=0))
                print(target.relative_to(ROOT))
    return 0


def record(run: Run, python: str) -> str:
    """The log of one run."""
    with tempfile.TemporaryDirectory() as directory:
        source = (CASES / run.case / f"{run.program}.py").read_text(encoding="utf-8")
        program = Path(directory, "program.py")
        program.write_text(source, encoding="utf-8")
        text = HOW[run.how](python, program)
        prefix = subprocess.check_output([python, "-c", "import sys; print(sys.prefix)"], text=True).strip()
    return text.replace(prefix, "/venv").replace(directory, "/home/user/project")


# ---------------------------------------------------------------- how a program is run


def _run(python: str, program: Path, **environment: str) -> str:
    done = subprocess.run(
        [python, "-u", program.name],
        cwd=program.parent,
        env={**_plain(), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    return done.stdout


def _plain() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("JAX_", "XLA_"))}
    return {**kept, "JAX_PLATFORMS": "cpu"}


def compiles(python: str, program: Path) -> str:
    """With everything that jax says about compiling."""
    return _run(python, program, JAX_LOG_COMPILES="1", JAX_EXPLAIN_CACHE_MISSES="1")


def no_memory(python: str, program: Path) -> str:
    """With a grid that no machine has the memory for: the CPU backend's RESOURCE_EXHAUSTED."""
    _edit(program, r"SIZE = 96", "SIZE = 2_000_000")
    return _run(python, program, JAX_TRACEBACK_FILTERING="off")


def stale_cache(python: str, program: Path) -> str:
    """With a persistent compilation cache whose entries were damaged between two runs."""
    cache = program.parent / "cache"
    options = {
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    _run(python, program, **options)
    for entry in cache.glob("*-cache"):
        entry.write_bytes(entry.read_bytes()[:200])
    return _run(python, program, **options)


def sampled(python: str, program: Path) -> str:
    """With the resident memory sampled four times a second, as the loop around `ps` does."""
    return _watched(python, program, 1 << 60)


def killed(python: str, program: Path) -> str:
    """A larger grid, sampled, in a shell, and ended by SIGKILL at 1.5 GB, as the kernel would end it."""
    _edit(program, r"SIZE = 96", "SIZE = 1024")
    _edit(program, r"step >= 200", "step >= 2000")
    return _watched(python, program, 3 << 29)


def _watched(python: str, program: Path, limit: int) -> str:
    """Run under a shell that says how it ended; samples and output go to one log."""
    log = program.parent / "log"
    # A command after the program, or the shell would become the program and have nothing to say.
    script = f'{python} -u {program.name}; status=$?; echo "exit code $status"; exit $status'
    with log.open("w") as stream:
        shell = subprocess.Popen(
            ["bash", "-c", script], cwd=program.parent, env=_plain(), stdout=stream, stderr=stream
        )
        while shell.poll() is None:
            child = _child(shell.pid)
            resident = _resident(child) if child else 0
            if resident:
                line = f"{time.strftime('%H:%M:%S')} {resident / 2**30:.4f} GB RSS\n"
                with log.open("a") as also:
                    also.write(line)
                stream.seek(0, os.SEEK_END)
            if resident > limit:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.25)
    return log.read_text(errors="replace")


def _child(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
    except (OSError, IndexError):
        return 0


def _resident(pid: int) -> int:
    """Bytes."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def _edit(program: Path, pattern: str, replacement: str) -> None:
    text, number = re.subn(pattern, replacement, program.read_text())
    if number != 1:
        sys.exit(f"{program}: {pattern!r} is there {number} times")
    program.write_text(text)


HOW: dict[str, Callable[[str, Path], str]] = {
    "compiles": compiles,
    "no-memory": no_memory,
    "stale-cache": stale_cache,
    "sampled": sampled,
    "killed": killed,
}

if __name__ == "__main__":
    sys.exit(main())
