"""Static and donated arguments of a boundary: numbers and names resolved against the parameters."""

from __future__ import annotations

from jaxlint.flow.domain.kinds import API, CONSTANT, TREE
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value, parts, tree
from jaxlint.index import installed


def argument_set(
    keywords: dict[str, Value], params: list[str] | None, numbers: str, names: str
) -> frozenset[str | int] | None:
    """Resolved names and indices of static or donated arguments; None when they are not understood."""
    found: set[str | int] = set()
    for key in (numbers, names):
        given = keywords.get(key)
        if given is None or (given.kind == CONSTANT and given.data is None):
            continue
        if given.kind == API:
            given = _installed_constant(given.data)
        members = parts(given) if given.kind == TREE else [given]
        if given.kind == TREE and given.data is None:
            return None
        for member in members:
            if member.kind != CONSTANT or not isinstance(member.data, (int, str)):
                return None
            _resolve(member.data, params, found)
    return frozenset(found)


_PAIRS = (
    ("static_argnums", "static_argnames"),
    ("static_broadcasted_argnums", "static_argnames"),
    ("donate_argnums", "donate_argnames"),
)


def told_by_position(keywords: dict[str, Value]) -> bool:
    """Whether a parameter may be static, or donated, by position and not by keyword: of numbers and names that are
    both given jax infers none from the others, and a negative number counts what stands by position (measured)."""
    return any(
        _told_by_position(keywords[numbers], keywords.get(names))
        for numbers, names in _PAIRS
        if numbers in keywords
    )


def _told_by_position(numbers: Value, names: Value | None) -> bool:
    if numbers.kind == CONSTANT and numbers.data is None:
        return False
    members = parts(numbers) if numbers.kind == TREE else [numbers]
    plain = all(m.kind == CONSTANT and isinstance(m.data, int) and m.data >= 0 for m in members)
    return not plain or (names is not None and not (names.kind == CONSTANT and names.data is None))


def _installed_constant(dotted: str) -> Value:
    """`static_argnames=otherlib.STATIC`: a constant of an installed package."""
    found = installed.constant(dotted)
    if isinstance(found, tuple):
        return tree([Value(CONSTANT, data=item) for item in found])
    return Value(CONSTANT, data=found) if found is not None else UNKNOWN_VALUE


def _resolve(given: int | str, params: list[str] | None, found: set[str | int]) -> None:
    if isinstance(given, str):
        for name in given.replace(",", " ").split():
            found.add(name)
            if params is not None and name in params:
                found.add(params.index(name))
        return
    if params is not None:
        index = given if given >= 0 else len(params) + given
        found.add(index)
        if 0 <= index < len(params):
            found.add(params[index])
    else:
        found.add(given)


def equinox_donation(value: Value, params: list[str] | None) -> frozenset[str | int] | None:
    """`donate=` of filter_jit: "all" (and "warn") donate everything, "…-except-first" all but the first."""
    if value.kind != CONSTANT or not isinstance(value.data, str) or params is None:
        return None
    if value.data == "none":
        return frozenset()
    start = 1 if value.data.endswith("except-first") else 0
    return frozenset([*range(start, len(params)), *params[start:]])
