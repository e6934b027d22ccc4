"""What the system says of processes: who descends from whom, what they hold, who bears a mark."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

_PROC = "/proc"
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def resident(root: int) -> int:
    """Bytes of memory that a process and its descendants hold. 0 where the system does not say."""
    if sys.platform == "linux":
        return sum(map(_resident, _family(root)))
    with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
        listed = subprocess.run(["ps", "-o", "rss=", "-g", str(root)], capture_output=True, timeout=5)
        return sum(int(line) for line in listed.stdout.split()) * 1024
    return 0


def kill_marked(mark: str) -> None:
    """Kill every process that has NAME=VALUE in its environment: also those that left their process group."""
    if sys.platform != "linux":
        return
    for _ in range(20):  # one may be forking while we look
        found = [pid for pid in _every() if pid != os.getpid() and mark.encode() in _environment(pid)]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def _every() -> list[int]:
    with contextlib.suppress(OSError):
        return [int(name) for name in os.listdir(_PROC) if name.isdecimal()]
    return []


def _family(root: int) -> list[int]:
    """A process and its descendants, by the kernel's own list of children."""
    found, rest = [root], [root]
    while rest:
        pid = rest.pop()
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"{_PROC}/{pid}/task"):
                with open(f"{_PROC}/{pid}/task/{thread}/children") as file:
                    children = [int(child) for child in file.read().split()]
                found += children
                rest += children
    return found


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"{_PROC}/{pid}/statm") as file:
        fields = file.read().split()
        return (int(fields[1]) - int(fields[2])) * _PAGE  # without what it shares with others
    return 0


def _environment(pid: int) -> list[bytes]:
    with contextlib.suppress(OSError), open(f"{_PROC}/{pid}/environ", "rb") as file:
        return file.read().split(b"\0")
    return []
