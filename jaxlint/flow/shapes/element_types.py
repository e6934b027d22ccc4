"""Types of elements as far as their width hangs on them, and how operations widen them (jax 0.10, measured).

Python numbers take the type of the array, but for a float beside integers. An array of floats beside one of
integers of any width keeps its type. Functions that give floats make float32 of integers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple


class Element(NamedTuple):
    """`bytes` of one element; `kind` is "bool", "int", "uint", "float", "half", "bfloat", or "" for the default
    width of something that may be an integer or a float."""

    bytes: int
    kind: str = ""

    @property
    def is_integer(self) -> bool:
        return self.kind in _INTEGERS

    @property
    def is_narrow_float(self) -> bool:
        return self.kind in ("half", "bfloat")


Elements = frozenset[Element]

_INTEGERS = ("bool", "int", "uint")
DEFAULT = Element(4)
FLOAT = Element(4, "float")
INT = Element(4, "int")
_NAMED = {
    **dict.fromkeys(("bool", "bool_"), Element(1, "bool")),
    **{f"int{8 * n}": Element(n, "int") for n in (1, 2, 4)},
    **{f"uint{8 * n}": Element(n, "uint") for n in (1, 2, 4)},
    **dict.fromkeys(("float16", "half"), Element(2, "half")),
    "bfloat16": Element(2, "bfloat"),
    "float32": FLOAT,
}
# As wide as these while the project leaves x64 off, on the device at least.
_NARROWED = {"float": FLOAT, "float64": FLOAT, "int": INT, "int64": INT, "uint64": Element(4, "uint")}

# What becomes of the elements of an argument.
_AS_THEY_ARE = frozenset(
    {
        "roll",
        "flip",
        "reshape",
        "ravel",
        "squeeze",
        "transpose",
        "pad",
        "abs",
        "max",
        "min",
        "relu",
        "expand_dims",
    }
    | {
        "swapaxes",
        "moveaxis",
        "repeat",
        "tile",
        "broadcast_to",
        "flatten",
        "rearrange",
        "take",
        "sort",
        "rot90",
    }
)
_AS_FLOATS = frozenset(
    {"mean", "std", "var", "exp", "log", "log1p", "sqrt", "tanh", "gelu", "silu", "swish", "elu", "sigmoid"}
    | {"softplus", "softmax", "log_softmax", "logsumexp"}
)
_SUMMED = frozenset({"sum", "prod"})
# Floats stay floats; what integers become hangs on the other arguments, the method, or both.
_FLOATS_KEPT = frozenset({"resize", "clip", "square", "cumsum"})
_MULTIPLIED = frozenset({"dot", "matmul", "conv_general_dilated"})
KEEPING = _AS_THEY_ARE | _AS_FLOATS | _SUMMED | _FLOATS_KEPT | _MULTIPLIED


def named(name: str, x64: bool) -> Element | None:
    """Of a dtype that is named: `uint8`, `bfloat16`; `float` and `int64` where the project leaves `x64` off."""
    return _NAMED.get(name) or (None if x64 else _NARROWED.get(name))


def applied(function: str, element: Element) -> Element | None:
    """What one of `KEEPING` gives of an array of such elements."""
    if element.kind in ("", "float"):
        return element
    if element.is_narrow_float:
        return None if function in _MULTIPLIED else element
    if function in _AS_THEY_ARE:
        return element
    if function in _AS_FLOATS:
        return FLOAT
    if function in _SUMMED or element.bytes == DEFAULT.bytes:
        return DEFAULT
    return None


def promoted(a: Element, b: Element) -> Element | None:
    """Of `a op b` between two arrays."""
    if a == b or b.kind == "bool":
        return a
    if a.kind == "bool":
        return b
    if DEFAULT in (a, b):
        other = b if a == DEFAULT else a
        return None if other.is_narrow_float else DEFAULT
    if a.is_integer != b.is_integer:
        return b if a.is_integer else a
    if not a.is_integer:
        return FLOAT
    wider, narrower = (a, b) if a.bytes >= b.bytes else (b, a)
    mixed = (wider.kind == "uint" and narrower.kind == "int") or wider.bytes == narrower.bytes
    return None if wider.kind != narrower.kind and mixed else wider


def with_number(element: Element, number: str) -> Element:
    """Of an array and a Python number, "int" or "float"."""
    if element.is_integer and number == "float":
        return FLOAT
    return INT if element.kind == "bool" else element


def divided(element: Element) -> Element:
    return FLOAT if element.is_integer else element


def combined(op: ast.operator, sides: Iterable[Elements], numbers: Iterable[str]) -> Elements | None:
    """Of `a op b`, where each side has elements or is a Python number."""
    first, *others = sides
    found: set[Element | None] = set(first)
    for other in others:
        found = {promoted(a, b) for a in found for b in other if a is not None}
    for number in numbers:
        found = {with_number(element, number) for element in found if element is not None}
    if None in found:
        return None
    known = frozenset(element for element in found if element is not None)
    return frozenset(map(divided, known)) if isinstance(op, ast.Div) else known
