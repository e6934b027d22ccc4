"""Processes that user code has started and left: on Linux their parent becomes this process, which ends them.

A process group does not hold those that began a session of their own, a mark in the environment not those that were
given another one. What a dead process leaves has a *subreaper* for its parent, the nearest one above it (prctl(2)).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time

_CHILD_SUBREAPER = 36  # prctl's PR_SET_CHILD_SUBREAPER
_PATIENCE = 1.0  # seconds that they may take to be gone; less than the worker is given to end (`process.py`)


def adopt() -> None:
    """From now on be the parent of what descendants leave, where the system can."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)


def wait_for(child: int) -> int:
    """Wait until a child ends: its status as of `os.waitpid`. Orphans that end meanwhile are reaped."""
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == child:
            return status


def kill_all() -> None:
    """Kill every child, and those that they leave in turn. Nothing but user code's may be among them."""
    until = time.monotonic() + _PATIENCE
    while (children := _children()) and time.monotonic() < until:
        for pid in children:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _children() -> list[int]:
    """This process's children, by the kernel's own list; none where there is no such list."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/children") as file:
                found += map(int, file.read().split())
    return found
