"""RESOURCE_EXHAUSTED: a device that is out of memory, in plain words or behind another exception.

The CPU backend has words of its own, "Out of memory allocating N bytes" (jax 0.4.35 to 0.10.2): then it is the
host's memory. The same status of gRPC about quotas and message sizes is not about memory at all.
"""

from __future__ import annotations

import re
from collections.abc import Container

from jaxlint.triage.evidence import Collected
from jaxlint.triage.reading import Line
from jaxlint.triage.sizes import SIZE, shown, size
from jaxlint.triage.talk import is_talk_of_error
from jaxlint.triage.tracebacks import Raised

_WORDS = ("RESOURCE_EXHAUSTED", "CUDA_ERROR_OUT_OF_MEMORY", "hipErrorOutOfMemory", "HIP_ERROR_OutOfMemory")
_BYTES = re.compile(r"(?:trying to allocate|[Oo]ut of memory allocating) (\d+) bytes")
_REQUEST = re.compile(
    rf"(?:[Aa]ttempting to (?:allocate|reserve)|trying to allocate|[Ff]ailed to allocate) {SIZE.format('size')}"
)
_TPU = re.compile(rf"Used {SIZE.format('used')} of {SIZE.format('all')} hbm")
_MEMORY = re.compile(
    r"(?i)out ?of ?(?:host )?memory|out_of_memory|shared memory|allocat|attempting to reserve|\bhbm\b|\bvmem\b"
)
_CODE = ("except ", "if ", "elif ", "raise ", "assert ", "#", ">>> ")  # a traceback shows source, too
_ON_THE_HOST = re.compile(r"Out of memory allocating \d+ bytes")
_PINNED = re.compile(r"Allocator \(\w*host\w*\) ran out of memory|Out of host memory")
# `Scoped allocation with size 18.50M and limit 16.00M exceeded scoped vmem limit`, `Used 1.5M of 1.0M smem`,
# `Shared memory size limit exceeded: requested 262144, available: 232448`
_ON_CHIP = re.compile(
    r"memory space (?P<space>[vsc]mem)\b|(?P<shared>[Ss]hared memory) size limit exceeded"
    r"|scoped (?P<scoped>vmem) limit"
)
_SIZES_ON_CHIP = re.compile(
    r"(?:size|Used|requested) (?P<asked>[\d.]+[KMG]?)(?: and limit| of|, available:) (?P<limit>[\d.]+[KMG]?)"
)
_MISMATCH = re.compile(
    r"(?i)(?:tree ?structures?|treedef|pytree|leaf|leaves|state ?dict|node type|checkpoint|structures?)"
    r".{0,160}?(?:mismatch|do(?:es)? not match|don't match|differ|unexpected|missing|expected)"
    r"|(?:mismatch|expected).{0,80}(?:tree|leaf|leaves|pytree|structure)"
)


class Exhausted:
    """Collects what is said about memory that could not be had."""

    def __init__(self, collected: Collected, pinned: Container[int]) -> None:
        """`pinned`: the requests that a pool of pinned host memory has refused, in bytes."""
        self._collected = collected
        self._pinned = pinned
        self.requests: list[int] = []  # bytes that were asked for, those of the device
        self.where = ""  # the user's line that the first came from
        self.mismatches: list[Raised] = []

    def feed(self, line: Line) -> bool:
        """Whether the line says that a device found no memory."""
        text = line.text
        if not any(word in text for word in _WORDS) or text.lstrip().startswith(_CODE):
            return False
        # What there is of "from device" is the allocator's to tell.
        if not _MEMORY.search(text) or "from device" in text or _is_only_named(text):
            return False
        asked = _asked(text)
        figure = f" for {shown(asked)}" if asked else ""
        if _ON_THE_HOST.search(text):
            self._collected.note("host-allocation-failed", f"the CPU backend found no memory{figure}", line)
            return False
        if _PINNED.search(text) or asked in self._pinned:
            self._collected.note(
                "pinned-host-pool", f"the pool of pinned host memory had no room{figure}", line
            )
            return False
        on_chip = _ON_CHIP.search(text)
        if on_chip:
            self._note_on_chip(line, on_chip)
            return True
        if asked:
            self.requests.append(asked)
            del self.requests[1000:]
        tpu = _TPU.search(text)
        if tpu:
            used, capacity = (tpu[f"{k}"] + tpu[f"{k}_unit"] for k in ("used", "all"))
            figure = f": the program needs {used} of {capacity}"
        self._collected.note(
            "resource-exhausted", f"the device found no memory{figure}", line, key="resource-exhausted"
        )
        return True

    def _note_on_chip(self, line: Line, found: re.Match[str]) -> None:
        sizes = _SIZES_ON_CHIP.search(line.text)
        figure = f": it asks for {sizes['asked']} of {sizes['limit']}" if sizes else ""
        space = found["space"] or found["shared"] or found["scoped"]
        self._collected.note("kernel-memory", f"a kernel does not fit into {space.lower()}{figure}", line)

    def raised(self, raised: Raised, line: Line) -> None:
        """An exception was printed."""
        if is_device(raised):
            self.where = self.where or raised.at
            return
        cause = next((r for r in raised.chain()[1:] if is_device(r)), None)
        if cause is not None:
            self._collected.note(
                "disguised",
                f"{raised.type} hides a RESOURCE_EXHAUSTED, raised in line {cause.place.line}",
                line,
                key=raised.type,
            )
            self.where = self.where or cause.at
        elif _MISMATCH.search(raised.message) and len(self.mismatches) < 50:
            self.mismatches.append(raised)


def is_device(raised: Raised) -> bool:
    """Whether a device ran out of memory."""
    text = raised.message
    named = any(word in text for word in _WORDS) and bool(_MEMORY.search(text))
    return named and not _ON_THE_HOST.search(text) and not _PINNED.search(text)


def _is_only_named(text: str) -> bool:
    """Whether a line only talks of the error."""
    for word in _WORDS:
        at = text.find(word)
        if at >= 0:
            return is_talk_of_error(text, at, at + len(word))
    return False


def _asked(text: str) -> int | None:
    found = _BYTES.search(text)
    if found:
        return int(found[1])
    request = _REQUEST.search(text)
    try:
        return size(request["size"], request["size_unit"]) if request else None
    except ValueError:
        return None
