"""Optax's transformations: made, and their `init` and `update` called."""

from __future__ import annotations

from jaxlint.flow.domain.kinds import FOREIGN
from jaxlint.flow.domain.objects import Foreign
from jaxlint.flow.domain.values import TRACED_PARAMETER, UNKNOWN_VALUE, Value, tree
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.shapes.layer_sizes import optimizer_state, optimizer_trees
from jaxlint.jax_api.precision import SECOND_ORDER
from jaxlint.jax_api.transforms import JIT


@api_call("optimizer")
def optimizer(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`optax.adam(…)`: a tuple of closures made here."""
    if last[:1].isupper() or last in ("incremental_update", "periodic_update", "update_moment"):
        return UNKNOWN_VALUE
    if last == "chain":  # as sensitive as its most sensitive part
        parts_of = (value.data.api for value in call.positional if value.kind == FOREIGN)
        dotted = next((api for api in parts_of if api in SECOND_ORDER), dotted)
    made = Foreign(dotted, frame.evaluation, frame.loop, call.node)
    made.trees = optimizer_trees(last, call)
    return Value(FOREIGN, data=made)


@api_call("optimizer_method")
def optimizer_method(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`optimizer.init(params)`, `optimizer.update(grads, state)`: trees of tracers in traced code."""
    if frame.level < JIT:
        return optimizer_state(frame, call) if last == "init" else UNKNOWN_VALUE
    return TRACED_PARAMETER if last == "init" else tree([TRACED_PARAMETER, TRACED_PARAMETER])
