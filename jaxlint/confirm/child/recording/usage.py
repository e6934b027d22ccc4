"""What the process holds: executables, live arrays, resident memory."""

from __future__ import annotations

import os
import time
from typing import Any

from .journal import Journal

_AT_MOST = 0.01  # the share of the time that looking may take
_SELDOM = 0.5  # seconds between two looks, at least
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Sampler:
    """Looks when something was compiled, as seldom as it has to in order to cost nothing."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._next = 0.0

    def consider(self, now: float) -> None:
        """Look, unless that was done a moment ago."""
        if now < self._next:
            return
        self._journal.write("sample", **held())
        took = time.perf_counter() - now
        self._next = now + max(_SELDOM, took / _AT_MOST)


def held() -> dict[str, Any]:
    """Counts and bytes; without those of jax where no backend has been started, which is not ours to do."""
    figures: dict[str, Any] = {"rss": resident()}
    if _has_backend():
        import jax

        arrays = jax.live_arrays()  # type: ignore[no-untyped-call]  # jax's own function has no annotations
        figures["arrays"] = len(arrays)
        figures["bytes"] = sum(array.nbytes for array in arrays if not array.is_deleted())
        executables = getattr(jax.local_devices()[0].client, "live_executables", None)
        figures["executables"] = len(executables()) if executables is not None else None
    return figures


def resident() -> int | None:
    """Bytes of memory that the process holds now, None where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return None


def _has_backend() -> bool:
    try:
        from jax._src.xla_bridge import backends_are_initialized
    except ImportError:
        return False
    return bool(backends_are_initialized())
