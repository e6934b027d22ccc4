"""`jaxlint oom --self-test`: a capture is made, written out, read back, and has to give what was put in."""

from __future__ import annotations

import tempfile
from pathlib import Path

from jaxlint.capture import load
from jaxlint.capture.report import Report
from jaxlint.capture.written import Plane, field, message, packed, space

_MIB = 1 << 20
_CAPACITY, _STATE, _GRADIENT, _TEMP = 100 * _MIB, 8 * _MIB, 8 * _MIB, 48 * _MIB
_STEPS = 5  # and one that fails
_MICROSECOND = 1_000_000


def problems() -> list[str]:
    """What came out otherwise than it was put in; nothing where all is well."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "self-test.xplane.pb")
        path.write_bytes(_capture())
        [found] = load.reports(path, load.Wanted())
    if not isinstance(found, Report):
        return [str(found)]
    plan = found.plan
    said = {claim.slug for claim in found.claims}
    expected = {
        "capacity": (found.pools[0].capacity, _CAPACITY),
        "parameters": (plan.totals.parameters if plan else None, _STATE),
        "outputs": (plan.totals.outputs if plan else None, _GRADIENT),
        "temp block": (plan.totals.temp if plan else None, _TEMP),
        "heap peak": (plan.heap_peak if plan else None, _TEMP),
        "Python line": (str(plan.buffers[0].frames[0]) if plan and plan.buffers else None, "model.py:7"),
        "in use at the last start": (found.in_use, _STATE + _STEPS * _GRADIENT),
        "executions": (len(found.executions), _STEPS + 1),
        "diagnosis": (sorted({"grows", "never-launched", "crowded"} - said), []),
    }
    return [f"{name}: {got} instead of {wanted}" for name, (got, wanted) in expected.items() if got != wanted]


def _capture() -> bytes:
    metadata = Plane("/host:metadata")
    metadata.module("jit_step(1)", 1, _module())
    return space(metadata.content(), _run().content(), host="self-test")


def _run() -> Plane:
    """A step that keeps its gradients, until its temp block does not fit any more."""
    plane = Plane("/host:CPU")
    in_use, time, address = _STATE, 0, 1 << 40

    def sample(name: str, size: int, at: int) -> None:
        nonlocal in_use
        in_use += size
        available = _CAPACITY - in_use
        stats: dict[str, int | float | str] = {"allocator_name": "GPU_0_bfc", "bytes_reserved": 0}
        stats |= {"bytes_allocated": in_use, "bytes_available": available, "peak_bytes_in_use": in_use}
        stats |= {"requested_bytes": abs(size)}
        plane.event(
            "python",
            name,
            at,
            0,
            {**stats, "fragmentation": 0.0, "allocation_bytes": abs(size), "addr": address},
        )

    for step in range(_STEPS + 1):
        time += 100 * _MICROSECOND
        fits = step < _STEPS
        name = "CommonPjRtLoadedExecutable::Execute (jit_step)"
        plane.event("python", name, time, 50 * _MICROSECOND)
        address += _GRADIENT
        sample("MemoryAllocation", _GRADIENT, time + 1)
        kept = address
        if fits:
            address += 1 << 32
            sample("MemoryAllocation", _TEMP, time + 2)
            plane.event("python", "[0] GpuExecutable::ExecuteThunks", time + 3, _MICROSECOND)
            sample("MemoryDeallocation", -_TEMP, time + 2 * _MICROSECOND)
        address = kept
    return plane


def _module() -> bytes:
    """An HloProto: a parameter, an output, a buffer of the temporary heap with a Python line."""
    shape = message((2, 11)) + packed(3, (1024, 2048))
    name_stack = message((2, "jit(step)/jvp()/dot_general"), (3, "model.py"), (4, 7))
    instructions = (
        message((1, "x"), (2, "parameter"), (3, shape), (35, 1)),
        message((1, "dot.1"), (2, "dot"), (3, shape), (7, name_stack), (35, 2)),
        message((1, "out"), (2, "add"), (3, shape), (35, 3)),
    )
    computation = message((1, "main"), (5, 1), (6, 3)) + b"".join(field(2, i) for i in instructions)
    module = message((1, "jit_step"), (2, "main"), (3, computation), (6, 1))
    sizes = (_STATE, _TEMP, _GRADIENT)
    buffers = b"".join(
        field(1, message((1, number), (2, size), (3, message((4, number)))))
        for number, size in enumerate(sizes, 1)
    )
    kinds = ((5, 1),), (), ((7, 1),)
    blocks = b"".join(
        field(3, message((1, number), (2, size), *kind, (9, message((1, number)))))
        for number, (size, kind) in enumerate(zip(sizes, kinds, strict=True), 1)
    )
    trace = field(4, field(1, message((1, 0), (2, 2))))
    return message((1, module), (3, buffers + blocks + trace))
