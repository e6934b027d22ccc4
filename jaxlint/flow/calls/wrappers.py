"""Wrappers that hand back the function they are given, or one that behaves like it."""

from __future__ import annotations

from jaxlint.flow.domain.closures import PartialApi
from jaxlint.flow.domain.kinds import BOUNDARY, CONSTANT, PARTIAL, SCALAR
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.facts import GuardOrder
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.program import api


@api_call("trace_guard")
def trace_guard(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    target = call.argument(0, "fn")
    if target is None or target.kind in (CONSTANT, SCALAR):
        return Value(PARTIAL, data=PartialApi(dotted, [], call.keywords))
    if target.kind == BOUNDARY and not frame.quiet:
        state = target.data
        frame.record(
            GuardOrder(
                frame.place(call.node),
                frame.symbol,
                frame.proof(),
                api=dotted,
                inner=state.module.place(state.node),
            )
        )
    return target


@api_call("wraps")
def wraps(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`functools.wraps(f)` is a decorator that changes nothing that matters here."""
    return api(dotted)


@api_call("transparent")
def transparent(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """A wrapper called rather than used as a decorator hands back what it is given. Given a name
    (`named_scope("loss")`) it is still the wrapper."""
    if call.positional and call.positional[0].kind == CONSTANT:
        return api(dotted)
    return call.positional[0] if call.positional else UNKNOWN_VALUE
