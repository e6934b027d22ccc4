"""Runs programs one after the other, each in a fork of a process that has imported jax already.

Reads a line of JSON for each program, `{"directory": DIR, "main": FILE, "seconds": N}`, and answers with a line
`{"status": N, "output": TEXT, "error": TEXT}`: what the program printed, and the end of what it had to say on
stderr. A program has the time and `MEMORY`; whatever becomes of it, the next one starts from the same state.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import runpy
import signal
import sys
import tempfile
import time
from typing import Any

MEMORY = 12 * 1024**3  # bytes of address space: XLA and its threads reserve several that they do not use
TIMED_OUT = 124


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    # Imported, not used: a backend that is started does not survive a fork, and programs set its environment.
    for name in ("numpy", "jax", "jax.numpy", "equinox", "optax", "flax.linen", "flax.nnx", "haiku", "chex"):
        with contextlib.suppress(ImportError):
            __import__(name)
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), file=answers, flush=True)


def run(directory: str, main: str, seconds: float) -> dict[str, Any]:
    """Run one program and say what came of it."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
        child = os.fork()
        if not child:
            _become(directory, main, output.fileno(), error.fileno())
        status = _wait(child, seconds)
        printed, said = (_content(stream) for stream in (output, error))
        return {"status": status, "output": printed, "error": said[-2000:]}


def _become(directory: str, main: str, output: int, error: int) -> None:
    """Be the program: in its directory, a group of its own, with nothing of ours open."""
    status = 1
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(error, 2)
        os.chdir(directory)
        sys.path.insert(0, directory)
        sys.argv = [main]
        runpy.run_path(main, run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status & 255)


def _wait(child: int, seconds: float) -> int:
    """The exit status of a program; minus the signal that ended it, `TIMED_OUT` where that was ours."""
    end = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return TIMED_OUT
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # whom it started
    return os.waitstatus_to_exitcode(status)


def _content(stream: Any) -> str:
    stream.seek(0)
    text: str = stream.read().decode(errors="replace")
    return text


if __name__ == "__main__":
    main()
