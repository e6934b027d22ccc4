"""How many elements the array that a call makes has, as far as numbers in view say."""

from __future__ import annotations

from jaxlint.flow.domain.kinds import CONSTANT, HOST, NUMBERS, TREE
from jaxlint.flow.domain.values import Value, is_number, parts
from jaxlint.flow.frame import Call
from jaxlint.jax_api.arrays import DTYPES, ELEMENTWISE, MAKERS, ONE_NUMBER, REDUCTIONS, WIDENING


def gives_number(last: str, call: Call) -> bool:
    """Whether the function gives one number: it reduces all axes, or takes numbers element by element."""
    if last in REDUCTIONS or last in ONE_NUMBER:
        alone = len(call.positional) == 1 or last in ("vdot", "count_nonzero")
        return alone and "axis" not in call.keywords and not call.starred
    values = call.positional
    if last not in ELEMENTWISE or len(values) < (3 if last == "where" else 1):
        return False
    return call.keywords.keys() <= {"dtype", "axis_name"} and all(
        v.size == 1 or is_number(v) for v in values[:3]
    )


def element_count(last: str, call: Call) -> int | None:
    """A bound on the number of elements of the result, where shapes are in view."""
    position = MAKERS.get(last)
    if position is not None:
        shape = call.argument(position, "shape", "N")
        if shape is None:
            return 1 if last in ("normal", "uniform", "randint", "bernoulli", "gumbel") else None
        product = _product(shape)
        if product is not None and last in ("eye", "identity"):
            columns = call.argument(1, "M")
            return product * product if columns is None else None
        return product
    if last in ("arange", "linspace", "fftfreq", "rfftfreq"):
        bound = call.argument(2, "num") if last == "linspace" else call.argument(0)
        if last == "arange" and len(call.positional) > 1:
            bound = call.positional[1]
        return (
            int(bound.data)
            if bound is not None and bound.kind == CONSTANT and isinstance(bound.data, (int, float))
            else None
        )
    if last in REDUCTIONS and "axis" not in call.keywords and len(call.positional) == 1:
        return 1
    if last in WIDENING:
        return None
    if call.positional:
        first = call.positional[0]
        if first.kind in NUMBERS and is_number(first):
            return _of_all(call.positional) if last in ELEMENTWISE or last in DTYPES else None
        if first.kind == TREE and last in ("array", "asarray", "stack", "concatenate"):
            return _of_display(first)
        return _of_all([first, *(v for v in call.positional[1:] if v.kind != TREE)])
    return None


def _of_display(value: Value) -> int | None:
    """Of numbers, arrays and rows of them, written one by one: `[[1.0, 0.0], [0.0, 1.0]]`."""
    if value.kind != TREE:
        return 1 if is_number(value) else value.size
    sizes = [_of_display(member) for member in parts(value)]
    known = [size for size in sizes if size is not None]
    return sum(known) if value.data.__class__ is list and len(known) == len(sizes) else None


def _of_all(values: list[Value]) -> int | None:
    """A bound for what is made of arrays spread over each other, as `jnp.hypot(x[:, None], y[None, :])`."""
    bound: int | None = 1
    for value in values:
        bound = together(Value(HOST, size=bound), value)
    return bound


def together(a: Value, b: Value) -> int | None:
    """A bound on the number of elements of what two arrays or numbers make element by element."""
    one, other = (1 if v.kind in NUMBERS else v.size for v in (a, b))
    if one is None or other is None:
        return None
    return one if one == other else one * other


def _product(shape: Value) -> int | None:
    members = parts(shape) if shape.kind == TREE else [shape]
    if shape.kind == TREE and shape.data is None:
        return None
    product = 1
    for member in members:
        if member.kind != CONSTANT or type(member.data) is not int:
            return None
        product *= max(member.data, 1)
    return product
