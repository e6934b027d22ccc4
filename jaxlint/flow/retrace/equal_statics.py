"""Static values that are equal but not the same: a trace made for one answers for the other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from jaxlint.finding import Place
from jaxlint.flow.facts import BoundaryUse, EqualStatic, Fact, Kind, Operand, Parameter
from jaxlint.flow.run import Run
from jaxlint.flow.syntax.parameters import member_uses

_NUMBERS = (bool, int, float, complex)


class Use(NamedTuple):
    """A static number in one call. `beside` are the other static constants, which must agree for one trace
    to serve two calls. `written` is where the number stands, if that is known."""

    call: BoundaryUse
    argument: Operand
    leaf: Operand
    value: object
    written: Place | None
    beside: dict[tuple[str, str], object]


def equal_statics(facts: Iterable[Fact], run: Run) -> list[Fact]:
    """Calls, in the order of the program, that an earlier one answers for with another type of number."""
    uses: dict[tuple[Place, str, str], list[Use]] = {}
    found: list[Fact] = []
    for call in facts:
        if not isinstance(call, BoundaryUse) or call.starred or _made_for(call):
            continue
        statics = list(_statics(call))
        for argument, leaf, values in statics:
            name = _name(argument)
            earlier = uses.setdefault((call.boundary.place, name, leaf.path), [])
            for turn, value, written in values:
                beside = _constants(call, leaf.rows if leaf.choices else None, turn)
                beside.pop((name, leaf.path), None)
                use = Use(call, argument, leaf, value, written, beside)
                first = next((u for u in earlier if _answers(u, use)), None)
                if first is not None and type(first.value) is not type(use.value):
                    found.append(_fact(first, use, run))
                earlier.append(use)
    return found


def _made_for(call: BoundaryUse) -> bool:
    """A function made the boundary anew, perhaps for this very call."""
    maker = call.boundary.made_in
    return bool(call.boundary.fresh) and call.symbol != maker and not call.symbol.startswith(f"{maker}.")


_GIVEN = object()  # an argument of which only that it is passed is known


def _name(argument: Operand) -> str:
    return argument.parameter or str(argument.index)


def _given(call: BoundaryUse) -> tuple[Operand, ...]:
    """The arguments, the object of a jitted method among them."""
    return (call.receiver, *call.arguments) if call.receiver is not None else call.arguments


def _constants(call: BoundaryUse, rows: Place | None, turn: int) -> dict[tuple[str, str], object]:
    """(parameter, path) → the constant there, for all that is passed, in one turn of the loop over `rows`."""
    found: dict[tuple[str, str], object] = {}
    for argument in _given(call):
        found[_name(argument), ""] = _GIVEN
        for leaf in argument.walk():
            if leaf.kind is Kind.CONSTANT:
                found[_name(argument), leaf.path] = leaf.constant
            elif rows is not None and leaf.rows == rows:
                found[_name(argument), leaf.path] = leaf.choices[turn]
    return found


def _values(operand: Operand) -> list[tuple[int, object, Place | None]]:
    """(turn, number, where it stands) of what the operand is, or is in turn."""
    if operand.kind is Kind.CONSTANT:
        literal = operand.origin if operand.origin_kind == "literal" else None
        return [(0, operand.constant, literal)] if type(operand.constant) in _NUMBERS else []
    written = zip(operand.choices, operand.written, strict=True)
    return [(turn, v, at) for turn, (v, at) in enumerate(written) if type(v) in _NUMBERS]


def _statics(call: BoundaryUse) -> Iterator[tuple[Operand, Operand, list[tuple[int, object, Place | None]]]]:
    """(argument, number in it, its values) where the cache compares by equality."""
    flavour = call.boundary.flavour
    for argument in _given(call):
        static = call.is_static(argument)
        for leaf in argument.walk():
            values = _values(leaf)
            compared = (
                flavour == "filter"
                or leaf.static_field
                or (static and leaf is not argument)  # alone, a static number is compared with its type
                or (flavour == "nnx" and leaf.path.startswith("."))
            )
            if values and compared:
                yield argument, leaf, values


def _answers(earlier: Use, later: Use) -> bool:
    """Whether the earlier call's trace serves the later one."""
    if earlier.value != later.value or earlier.beside.keys() != later.beside.keys():
        return False
    return all(
        value == later.beside[key] or _GIVEN in (value, later.beside[key])
        for key, value in earlier.beside.items()
    )


def _member_uses(path: str, run: Run) -> set[str]:
    """What traced code does with the member at the end of a path: ".order", "['order']"."""
    member = re.search(r"""(?:\.|\[')(\w+)(?:'\])?$""", path)
    return member_uses(run.traced, member[1]) if member is not None else {"call"}


def _fact(earlier: Use, later: Use, run: Run) -> EqualStatic:
    name = later.argument.parameter
    parameter = next((p for p in later.call.boundary.parameters if p.name == name), Parameter(name or ""))
    where, before = later.leaf.place, earlier.leaf.place
    if where == before:  # in a function that is called with the one and with the other
        steps = zip(earlier.call.proof.chain, later.call.proof.chain, strict=False)
        before, where = next(((a.place, b.place) for a, b in steps if a.place != b.place), (before, where))
    return EqualStatic(
        where,
        later.call.symbol,
        later.call.proof,
        boundary=later.call.boundary,
        parameter=parameter,
        path=later.leaf.path,
        uses=frozenset(_member_uses(later.leaf.path, run) if later.leaf.path else parameter.uses),
        value=later.value,
        answered_by=earlier.value,
        earlier=before,
        call=later.call.place,
        written=later.written,
    )
