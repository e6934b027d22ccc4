"""Whether a thing is new where the code stands: in each iteration, in each call, or neither."""

from __future__ import annotations

from jaxlint.flow.domain.closures import Closure, PartialApi
from jaxlint.flow.domain.objects import Foreign, Instance
from jaxlint.flow.frame import Frame


def freshness(frame: Frame, thing: Closure | Instance | Foreign | PartialApi) -> str:
    """Whether a thing is new where the frame now stands: "loop" (each iteration), "call" (each call of the
    function that makes it) or "" (it outlives both)."""
    home = thing.home
    if home is None:
        return ""
    if home is frame.evaluation:
        if thing.loop and frame.loop >= thing.loop:
            return "loop"
        return "call" if home.function is not None else ""
    if not home.active:
        return ""
    if thing.loop:
        return "loop"
    return "call" if home.function is not None else ""
