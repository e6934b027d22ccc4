"""Sizes that a trace needs as static values: tracers where a call takes a size or a shape."""

from __future__ import annotations

from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.trace import traced
from jaxlint.jax_api.transforms import VMAP


def check_sizes(
    frame: Frame, sized: tuple[tuple[int, ...], tuple[str, ...]] | None, dotted: str, call: Call
) -> None:
    """Report tracers where a call needs static sizes."""
    if sized is None or frame.level < VMAP or frame.quiet:
        return
    positions, keywords = sized
    last = dotted.rpartition(".")[2]
    for position in positions:
        if position < len(call.positional):
            traced.size(
                frame,
                call.argument_node(position) or call.node,
                call.positional[position],
                dotted,
                _word(last),
            )
    for word in keywords:
        value = call.keywords.get(word)
        if value is not None:
            traced.size(frame, call.argument_node(99, word) or call.node, value, dotted, _word(last))


def _word(last: str) -> str:
    if last in ("split", "array_split", "hsplit", "vsplit"):
        return "sections"
    return "length" if last in ("arange", "linspace", "scan", "top_k", "one_hot") else "shape"
