"""Objects of libraries that keep what they are given: `diffrax.ODETerm(partial(field, k=0.1))`."""

from __future__ import annotations

from typing import Any

from jaxlint.flow.domain.kinds import FOREIGN, FUNCTION, PARTIAL, TREE, UNKNOWN
from jaxlint.flow.domain.objects import Foreign
from jaxlint.flow.domain.values import Value, parts, tree
from jaxlint.flow.frame import Call, Frame
from jaxlint.jax_api.holders import EVERY, HOLDERS


def with_kept(frame: Frame, dotted: str, call: Call, made: Value) -> Value:
    """The object that a call makes, with the functions that it keeps among its fields, if there are any."""
    kept: dict[Any, Value] = {}
    for position, name in HOLDERS[dotted]:
        if name == EVERY:
            kept.update((f"terms[{i}]", v) for i, v in enumerate(call.positional[position:]) if _keeps(v))
            continue
        given = call.argument(position, name)
        if given is not None and _keeps(given):
            kept[name] = given
    if not kept or made.kind not in (FOREIGN, UNKNOWN):
        return made
    thing = made.data if made.kind == FOREIGN else Foreign(dotted, frame.evaluation, frame.loop, call.node)
    return Value(FOREIGN, made.varies, made.tags, thing, tree(kept), made.origin, made.size)


def _keeps(value: Value) -> bool:
    """A function, or what keeps one."""
    if value.kind == TREE:
        return any(map(_keeps, parts(value)))
    return value.kind in (FUNCTION, PARTIAL) or (value.kind == FOREIGN and value.element is not None)
