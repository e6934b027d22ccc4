"""States that are copied to each device."""

from __future__ import annotations

from jaxlint.flow.config.configuration import device_use
from jaxlint.flow.domain.kinds import DEVICE, HOST
from jaxlint.flow.domain.values import DEVICE_VALUE, Value
from jaxlint.flow.facts import Replication
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.index.written_names import dotted_name


@api_call("replicate")
def replicate(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`flax.jax_utils.replicate(state)`: a copy on each device."""
    if not frame.level:
        device_use(frame, call.node, dotted)
    if not frame.quiet and not frame.level:
        subject = call.argument_node(0, "tree", "x")
        name = dotted_name(subject) if subject is not None else None
        frame.record(
            Replication(frame.place(call.node), frame.symbol, frame.proof(), api=dotted, name=name or "")
        )
    given = call.argument(0, "tree", "x")
    if given is None or given.kind in (DEVICE, HOST):
        return DEVICE_VALUE
    return given
