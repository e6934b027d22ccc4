"""What a boundary keys its cache on and cannot recognise: unhashable values, and new objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.finding import Place
from jaxlint.flow.facts import BoundaryUse, Kind, Operand


class Key(NamedTuple):
    """An argument and the value in it, perhaps itself, that becomes part of the cache key."""

    argument: Operand
    leaf: Operand


def unhashable(fact: BoundaryUse) -> list[Key]:
    """Values that make the call raise: at static positions, and what `filter_jit` does not trace."""
    found = []
    for argument in _arguments(fact):
        if fact.is_static(argument):
            found += [Key(argument, argument)] if argument.hashing == "unhashable" else []
        elif fact.boundary.flavour == "filter":
            leaves = [leaf for leaf in _in_containers(argument) if leaf.hashing == "unhashable"]
            found += [Key(argument, leaf) for leaf in leaves if _is_object(leaf)]
    return found


def fresh(fact: BoundaryUse) -> dict[Place, list[Key]]:
    """Values compared by identity and made anew for each call, by where a person would change something: the
    line that makes one, or else the first such argument."""
    places: dict[Place, list[Key]] = {}
    first: Place | None = None
    for argument in _arguments(fact):
        keyed = fact.is_static(argument) or fact.boundary.flavour == "filter"
        for leaf in _by_identity(argument, keyed):
            again = leaf.fresh_in == "call" and fact.proof.repeats(leaf.made_in or fact.symbol)
            if leaf.fresh_in == "loop" or again:
                origin = maker(leaf)
                elsewhere = origin is not None and not argument.place.contains(origin)
                if origin is not None and elsewhere and origin.path == fact.place.path:
                    place = origin
                else:
                    place = first = first or argument.place
                places.setdefault(place, []).append(Key(argument, leaf))
    return places


def maker(leaf: Operand) -> Place | None:
    """The expression that makes a fresh object. A `def` is none: what to change is the call that takes it."""
    return None if leaf.origin_kind == "nested function" else leaf.origin


def _arguments(fact: BoundaryUse) -> list[Operand]:
    """All but a static self, of which JAX108 speaks."""
    return [a for a in fact.arguments if not (fact.boundary.static_self and a.index == 0)]


def _in_containers(operand: Operand) -> Iterator[Operand]:
    """The leaves of nested containers. What an object holds is not looked at."""
    if operand.kind is Kind.TREE and operand.origin_kind != "set":
        for leaf in operand.leaves:
            yield from _in_containers(leaf)
    else:
        yield operand


def _is_object(leaf: Operand) -> bool:
    return leaf.kind is Kind.INSTANCE or leaf.origin_kind in ("set", "slice")


def _by_identity(operand: Operand, keyed: bool) -> Iterator[Operand]:
    """What is compared by identity: of keyed values all, of traced ones what their class keeps static."""
    if operand.hashing == "identity" and operand.kind is not Kind.TREE:
        if keyed:
            yield operand
        return
    for leaf in operand.leaves:
        yield from _by_identity(leaf, keyed or operand.kind is not Kind.TREE)
