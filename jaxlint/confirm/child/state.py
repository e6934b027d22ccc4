"""What a line may change in a process: memory, executables, jax's configuration, whether a backend is started."""

from __future__ import annotations

import contextlib
import os
import sys
import tracemalloc
from typing import Any

_NUMBER = 32  # bytes of an integer or a float
_OURS = ("JAX_", "XLA_", "TF_")

_own_bytes = [0]  # of Python's memory, what watching holds


def own(*things: Any, less: int = 0) -> int:
    """Note that we hold plain data, of which `less` bytes are noted already. How many bytes it is.

    It is added up by size. What tracemalloc counts while we allocate was rejected: free lists, and jax, which
    frees some of what it makes later, mix up what is ours with what is the program's.
    """
    size = sum(map(_size, things))
    _own_bytes[0] += size - less
    return size


def _size(thing: Any) -> int:
    """Bytes of plain data. Text counts as another's: files and functions have had their names before."""
    if isinstance(thing, dict):
        return sys.getsizeof(thing) + sum(map(_size, thing.values()))
    if isinstance(thing, (list, tuple)):
        return sys.getsizeof(thing) + sum(map(_size, thing))
    is_number = isinstance(thing, (int, float)) and not isinstance(thing, bool)
    return _NUMBER if is_number and not -5 <= thing <= 256 else 0  # smaller integers are there already


def host_bytes() -> int:
    """What Python and numpy hold without what watching does, 0 where nobody counts."""
    return tracemalloc.get_traced_memory()[0] - _own_bytes[0] if tracemalloc.is_tracing() else 0


def sample(memory: bool) -> dict[str, Any]:
    """The state now; nothing is started by looking.

    With `memory`, which takes its time, also bytes of live arrays and of what Python and numpy hold, else 0.
    """
    host = host_bytes()
    started = backend_started()
    counted = started and memory
    device, arrays = _live_arrays() if counted else (0, 0)
    return {
        "device_bytes": device,
        "arrays": arrays,
        "executables": _executables() if counted else 0,
        "host_bytes": host,
        "backend": started,
        "imported": "jax" in sys.modules,
        "tracing": tracing(),
    }


def backend_started() -> bool:
    """Whether jax has started a backend. There is no public way to ask (0.4.35 to 0.10)."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    return bridge is not None and bool(bridge.backends_are_initialized())


def tracing() -> bool:
    """Whether jax is tracing at this moment. Private too, and in all versions since 0.4.36."""
    core = sys.modules.get("jax._src.core")
    clean = getattr(core, "trace_state_clean", None)
    with contextlib.suppress(Exception):
        return clean is not None and not clean()
    return False


def configuration() -> dict[str, Any]:
    """jax's options by name."""
    jax = sys.modules.get("jax")
    values = getattr(getattr(jax, "config", None), "values", None)
    return dict(values) if isinstance(values, dict) else {}


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, list[str]]:
    """The options that are not what they were: what they were and what they are, as text."""
    return {
        name: [repr(before.get(name)), repr(value)]
        for name, value in after.items()
        if before and before.get(name) is not value and before.get(name) != value
    }


def environment() -> dict[str, str]:
    """The variables that jax and XLA read."""
    return {name: value for name, value in os.environ.items() if name.startswith(_OURS)}


def live_bytes() -> int:
    """Bytes of the arrays that are alive on devices. A backend has been started."""
    return _live_arrays()[0]


def _live_arrays() -> tuple[int, int]:
    """Bytes and number of the arrays that are alive on devices; a buffer that several share counts once."""
    import jax

    seen: set[Any] = set()
    total = number = 0
    live_arrays: Any = jax.live_arrays
    for array in live_arrays():
        with contextlib.suppress(Exception):
            key = _buffer(array)
            if key not in seen:
                seen.add(key)
                total += array.nbytes
                number += 1
    return total, number


def _buffer(array: Any) -> Any:
    try:
        return array.unsafe_buffer_pointer()
    except Exception:
        return id(array)


def _executables() -> int:
    import jax

    with contextlib.suppress(Exception):
        return len(jax.devices()[0].client.live_executables())
    return 0
