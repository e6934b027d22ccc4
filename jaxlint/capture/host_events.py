"""What the names of host events mean: allocations, executions, launches, and where an array came from.

The names differ between the generations of XLA's client (jaxlib up to 0.8, and from 0.9) and between one device
and several (`[3] …`). They are all here.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple


class Kind(IntEnum):
    """Of a host event, as far as memory is concerned."""

    PLAIN = 0
    ALLOCATION = 1
    DEALLOCATION = 2
    RETRY = 3  # the allocator waits for memory to be freed
    EXECUTION = 4  # one execution of a module on one device, from allocating to launching
    LAUNCH = 5  # kernels are launched
    PART = 6  # a stage of an execution, which may run on a thread of its own
    CALL = 7  # of a jitted function, by the program


class Meaning(NamedTuple):
    """`module` and `ordinal` (of the device) where the name tells them."""

    kind: Kind
    module: str = ""
    ordinal: int | None = None


_EXECUTIONS = (
    re.compile(r"(?:\[(\d+)\] )?PjRtStreamExecutor\w*::EnqueueExecution()$"),
    re.compile(r"(?:\[(\d+)\] )?Tfrt\w*Executable::ExecuteHelper()$"),
    re.compile(r"(?:\[(\d+)\] )?CommonPjRtLoadedExecutable::Execute(?:Sharded|Portable)? \((.*)\)$"),
)
_LAUNCHES = (
    re.compile(r"(?:\[(\d+)\] )?(.*):XLA GPU module$"),
    re.compile(r"(?:\[(\d+)\] )?GpuExecutable::ExecuteThunks()"),
)
_PARTS = (re.compile(r"(?:\[(\d+)\] )?\w*Raw\w*Executable::Execute()$"),)
_CALL = re.compile(r"(?:\[\d+\] )?PjitFunction\((.*)\)$")

_STAGES = ((Kind.EXECUTION, _EXECUTIONS), (Kind.LAUNCH, _LAUNCHES), (Kind.PART, _PARTS))

# What allocates an array outside of an execution, most telling first.
_ORIGINS = (
    re.compile(r"BufferFromHost"),
    re.compile(r"^(?:\[\d+\] )?DevicePut"),
    re.compile(
        r"LinearizeHostBufferInto|CopyToDevice|CopyToMemorySpace|CreateUninitializedBuffer|TransferTo"
    ),
    re.compile(r"[Cc]ompile|[Aa]utotun"),
    _CALL,
)
# Python files of jax itself, by which the tracer of Python calls names no place that a person knows.
_JAX_FILES = frozenset(
    [
        *("api", "api_util", "array", "array_creation", "array_methods", "batching", "basearray", "compiler"),
        *("compilation_cache", "contextlib", "core", "dispatch", "dtypes", "functools", "indexing", "lax"),
        *("lax_numpy", "linear_util", "loops", "mlir", "multihost_utils", "pjit", "pmap", "prng", "profiler"),
        *("pxla", "sharding", "sharding_impls", "stages", "traceback_util", "tree_util", "threading"),
        *("ufunc_api", "ufuncs", "util", "weakref_lru_cache", "xla_bridge", "xla_client"),
    ]
)
_PYTHON = re.compile(r"\$([\w.\-]+)\.py:(\d+) ")


def meaning(name: str) -> Meaning:
    """What a host event says by its name."""
    if name == "MemoryAllocation":
        return Meaning(Kind.ALLOCATION)
    if name == "MemoryDeallocation":
        return Meaning(Kind.DEALLOCATION)
    if name.startswith("AllocatorRetry"):
        return Meaning(Kind.RETRY)
    for kind, patterns in _STAGES:
        for pattern in patterns:
            match = pattern.match(name)
            if match:
                return Meaning(kind, match[2], int(match[1]) if match[1] else None)
    call = _CALL.match(name)
    return Meaning(Kind.CALL, f"jit_{call[1]}") if call else Meaning(Kind.PLAIN)


def origin(enclosing: list[str]) -> str:
    """What allocates an array, from the names of the events around it, outermost first."""
    for pattern in _ORIGINS:
        for name in reversed(enclosing):
            if pattern.search(name):
                return name + _python_line(enclosing)
    native = [name for name in enclosing if not name.startswith("$")]
    if native:
        return native[-1] + _python_line(enclosing)
    return enclosing[-1] if enclosing else "an event without a name around it"


def _python_line(enclosing: list[str]) -> str:
    """Where the program was, if Python calls were traced."""
    for name in reversed(enclosing):
        match = _PYTHON.match(name)
        if match and match[1] not in _JAX_FILES:
            return f" under {name[1:]}"
    return ""
