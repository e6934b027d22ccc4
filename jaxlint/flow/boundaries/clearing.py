"""Where the program throws away what was compiled."""

from __future__ import annotations

from jaxlint.flow.boundaries.described import describe
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.facts import CachesCleared
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.retrace.mutation import Cleared


@api_call("clear_caches")
def clear_caches(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`jax.clear_caches()`."""
    frame.log.append(Cleared())
    note_clearing(frame, call, dotted, None)
    return UNKNOWN_VALUE


def note_clearing(frame: Frame, call: Call, api: str, boundary: BoundaryState | None) -> None:
    """Leave the fact; a callable handed to `map` and the like has no place of its own."""
    if frame.quiet or not hasattr(call.node, "lineno"):
        return
    frame.record(
        CachesCleared(
            frame.place(call.node),
            frame.symbol,
            frame.proof(),
            api=api,
            boundary=describe(boundary) if boundary is not None else None,
            loop=frame.innermost_loop(),
            sometimes=bool(frame.branches),
        )
    )
