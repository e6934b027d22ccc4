"""RESOURCE_EXHAUSTED: a device that is out of memory, in plain words or behind another exception.

The CPU backend has words of its own, "Out of memory allocating N bytes" (jax 0.4.35 to 0.10.2): then it is the
host's memory. The same status of gRPC about quotas and message sizes is not about memory at all.
"""

from __future__ import annotations

import re

from jaxlint.triage.evidence import Collected
from jaxlint.triage.reading import Line
from jaxlint.triage.sizes import SIZE, shown, size
from jaxlint.triage.tracebacks import Raised

_WORDS = ("RESOURCE_EXHAUSTED", "CUDA_ERROR_OUT_OF_MEMORY", "hipErrorOutOfMemory", "HIP_ERROR_OutOfMemory")
_BYTES = re.compile(r"(?:trying to allocate|[Oo]ut of memory allocating) (\d+) bytes")
_REQUEST = re.compile(
    rf"(?:[Aa]ttempting to (?:allocate|reserve)|trying to allocate|[Ff]ailed to allocate) {SIZE.format('size')}"
)
_TPU = re.compile(rf"Used {SIZE.format('used')} of {SIZE.format('all')} hbm")
_MEMORY = re.compile(r"(?i)out ?of ?memory|out_of_memory|allocat|attempting to reserve|\bhbm\b|\bvmem\b")
_CODE = ("except ", "if ", "elif ", "raise ", "assert ", "#", ">>> ")  # a traceback shows source, too
_ON_THE_HOST = re.compile(r"Out of memory allocating \d+ bytes")
_MISMATCH = re.compile(
    r"(?i)(?:tree ?structures?|treedef|pytree|leaf|leaves|state ?dict|node type|checkpoint|structures?)"
    r".{0,160}?(?:mismatch|do(?:es)? not match|don't match|differ|unexpected|missing|expected)"
    r"|(?:mismatch|expected).{0,80}(?:tree|leaf|leaves|pytree|structure)"
)


class Exhausted:
    """Collects what is said about memory that could not be had."""

    def __init__(self, collected: Collected) -> None:
        self._collected = collected
        self.requests: list[int] = []  # bytes that were asked for, those of the device
        self.where = ""  # the user's line that the first came from
        self.mismatches: list[Raised] = []

    def feed(self, line: Line) -> bool:
        """Whether the line says that a device found no memory."""
        text = line.text
        if not any(word in text for word in _WORDS) or text.lstrip().startswith(_CODE):
            return False
        if not _MEMORY.search(text) or "from device" in text:  # that is the allocator's to tell
            return False
        asked = _asked(text)
        figure = f" for {shown(asked)}" if asked else ""
        if _ON_THE_HOST.search(text):
            self._collected.note("host-allocation-failed", f"the CPU backend found no memory{figure}", line)
            return False
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
    return (
        any(word in text for word in _WORDS) and bool(_MEMORY.search(text)) and not _ON_THE_HOST.search(text)
    )


def _asked(text: str) -> int | None:
    found = _BYTES.search(text)
    if found:
        return int(found[1])
    request = _REQUEST.search(text)
    try:
        return size(request["size"], request["size_unit"]) if request else None
    except ValueError:
        return None
