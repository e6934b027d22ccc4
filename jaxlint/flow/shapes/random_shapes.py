"""What draws of random numbers give: of numpy's generators, and of jax by a key."""

from __future__ import annotations

from jaxlint.flow.shapes.mapped_shapes import stack_of
from jaxlint.flow.shapes.shape_values import Array, Items, Known, Number, broadcast, made_with
from jaxlint.jax_api.shape_names import DRAWERS, DRAWS


def drawn(name: str, arguments: list[Known], words: dict[str, Known]) -> Known:
    """A method of a numpy generator."""
    if name in ("rand", "randn"):
        return made_with(Items(tuple(arguments))) if arguments else Number(None)
    if name == "permutation" and arguments:
        return arguments[0] if isinstance(arguments[0], Array) else made_with(arguments[0])
    at = DRAWS.get(name)
    if at is None:
        return None
    given = words["size"] if "size" in words else arguments[at] if at < len(arguments) else Items(())
    return made_with(given)


def of_key(last: str, arguments: list[Known], words: dict[str, Known]) -> Known:
    """A function of `jax.random`."""
    first = arguments[0] if arguments else None
    if last in ("key", "PRNGKey"):
        return Array(()) if last == "key" else Array((2,))  # threefry's, the default
    if last in ("fold_in", "clone"):
        return first
    if last == "split":
        return stack_of(first, _split_number(arguments, words)) if isinstance(first, Array) else None
    at = DRAWERS.get(last)
    if at is None:
        return None
    if "shape" in words or at < len(arguments):
        return made_with(words["shape"] if "shape" in words else arguments[at])
    return broadcast(arguments[1:at]) if at > 1 else Array(())


def _split_number(arguments: list[Known], words: dict[str, Known]) -> int | None:
    number = words["num"] if "num" in words else arguments[1] if len(arguments) > 1 else Number(2)
    return number.value if isinstance(number, Number) else None
