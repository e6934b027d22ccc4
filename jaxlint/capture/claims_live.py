"""What memory.prof adds: the Python lines of arrays that live on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jaxlint.capture.claim import Basis, Claim
from jaxlint.capture.memory_profile import LiveArrays
from jaxlint.capture.sizes import shown


def live_arrays(arrays: Sequence[LiveArrays]) -> Iterator[Claim]:
    """The line that holds the most."""
    buffers = [a for a in arrays if a.kind != "executable"]
    if not buffers:
        return
    total, largest = sum(a.size for a in buffers), buffers[0]
    place = f" at {largest.frames[0]}" if largest.frames else ""
    function = f" in {largest.frames[0].function}" if largest.frames and largest.frames[0].function else ""
    yield Claim(
        "live-arrays",
        Basis.MEASURED,
        f"memory.prof: {shown(total)} of arrays were alive, the most, {shown(largest.size)} in {largest.number},"
        f" allocated{place}{function}",
        cause="these lines hold what is there before a step begins",
        rules=("JAX308", "JAX314"),
        frames=tuple(dict.fromkeys(frame for a in buffers[:6] for frame in a.frames[:2])),
    )
