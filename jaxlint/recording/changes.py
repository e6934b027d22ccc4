"""Why a boundary was traced again: what differs from the earlier trace that is most like it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum

from jaxlint.record import record

ABSENT = "absent"
_ARRAY = re.compile(r"(?P<dtype>[\w<>]+)\[(?P<shape>[\d,]*)\](?P<weak> weak)?")


class Cause(str, Enum):
    """What jit's cache distinguishes calls by."""

    STATIC = "static value"
    SHAPE = "shape"
    DTYPE = "dtype"
    WEAK = "weak type"
    STRUCTURE = "structure"
    FUNCTION = "function object"
    FORM = "form of the call"
    SETTING = "setting of jax"
    DROPPED = "cache was emptied"


# The causes of a retrace that a rule's claim is about.
CLAIMED: Mapping[str, frozenset[Cause]] = {
    "JAX101": frozenset({Cause.STATIC}),
    "JAX102": frozenset({Cause.STATIC}),
    "JAX103": frozenset({Cause.FUNCTION}),
    "JAX104": frozenset({Cause.SHAPE, Cause.STRUCTURE}),
    "JAX105": frozenset({Cause.SHAPE}),
    "JAX106": frozenset({Cause.SHAPE, Cause.STRUCTURE}),
    "JAX107": frozenset({Cause.STATIC, Cause.FUNCTION}),
    "JAX108": frozenset({Cause.STATIC}),
    "JAX110": frozenset({Cause.STRUCTURE}),
    "JAX111": frozenset({Cause.WEAK, Cause.DTYPE}),
    "JAX114": frozenset({Cause.FORM}),
}


@record
class Change:
    """One difference. `name` is the argument or the part of it, "" where the cause is no argument."""

    cause: Cause
    name: str
    before: str
    after: str

    @property
    def text(self) -> str:
        """In words: "n: static 3 -> static 5"."""
        if self.cause is Cause.FUNCTION:
            return "another function object (a new lambda, closure, partial or bound method each time)"
        if self.cause is Cause.DROPPED:
            return "nothing: the cache was emptied, or what was compiled is no longer held"
        if self.cause is Cause.FORM:
            return f"form of the call: {self.before} -> {self.after}"
        return f"{self.name}: {self.before} -> {self.after}"

    @property
    def argument(self) -> str:
        """The parameter that the part belongs to: "batch" of "batch['x']"."""
        return re.split(r"[.\[]", self.name.lstrip("*"), maxsplit=1)[0]


@record
class Call:
    """What one trace was made for."""

    signature: Mapping[str, str]
    function: int
    form: str
    options: Mapping[str, str]


def changes(call: Call, earlier: Sequence[Call]) -> tuple[Change, ...]:
    """How a call differs from the one of the earlier ones that it differs from least."""
    alike = [other for other in earlier if other.function == call.function]
    found = min(
        (_differences(call, other) for other in reversed(alike or list(earlier))), key=len, default=()
    )
    if not alike:
        return (Change(Cause.FUNCTION, "", "", ""), *found)
    if found:
        return found
    others = [other for other in alike if other.form != call.form]
    if len(others) == len(alike):
        return (Change(Cause.FORM, "", others[-1].form, call.form),)
    return (Change(Cause.DROPPED, "", "", ""),)


def _differences(call: Call, other: Call) -> tuple[Change, ...]:
    names = dict.fromkeys([*other.signature, *call.signature])
    arguments = [
        Change(_cause(before, after), name, before, after)
        for name in names
        if (before := other.signature.get(name, ABSENT)) != (after := call.signature.get(name, ABSENT))
    ]
    options = [
        Change(Cause.SETTING, name, other.options.get(name, "default"), call.options.get(name, "default"))
        for name in dict.fromkeys([*other.options, *call.options])
        if other.options.get(name) != call.options.get(name)
    ]
    return (*arguments, *options)


def _cause(before: str, after: str) -> Cause:
    old, new = _ARRAY.fullmatch(before), _ARRAY.fullmatch(after)
    if old and new:
        if old["shape"] != new["shape"]:
            return Cause.SHAPE
        return Cause.DTYPE if old["dtype"] != new["dtype"] else Cause.WEAK
    if before.startswith("static ") and after.startswith("static "):
        return Cause.STATIC
    return Cause.STRUCTURE
