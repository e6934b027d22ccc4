"""A boundary that is compiled again in words: why, what to do, and which rules find it in source."""

from __future__ import annotations

from itertools import pairwise

from jaxlint.triage.cache_misses import Reason, by_identity
from jaxlint.triage.retraces import GROWING, Boundary, sizes_of_changes

# A control-flow primitive that is compiled by its own name was called outside jit.
_CONTROL = frozenset(
    ["scan", "while", "while_loop", "fori_loop", "cond", "switch", "map", "associative_scan"]
)


def describe(boundary: Boundary) -> None:
    """Put into words why it is compiled again and what to do, and name the rules that find it in source."""
    why, remedy, rules = _WORDS[boundary.reason]
    if boundary.own:
        why, remedy, rules = _OWN_WORDS
    elif boundary.name in _CONTROL:
        why, remedy, rules = _CONTROL_WORDS
    elif boundary.reason is Reason.STATIC and any(map(by_identity, boundary.changes)):
        why, remedy, rules = _IDENTITY_WORDS
    elif boundary.reason is Reason.TYPES and _grows_by_one(boundary):
        why, remedy, rules = _GROWING_WORDS
    inferred = "" if boundary.own else boundary.why
    boundary.why, boundary.remedy, boundary.rules = inferred or why, remedy, rules
    if boundary.over:
        boundary.why, boundary.remedy, boundary.rules = "at the start, and not since", "", ()


def _grows_by_one(boundary: Boundary) -> bool:
    sizes = sizes_of_changes(boundary.changes).values()
    return any(len(s) >= GROWING and {b - a for a, b in pairwise(s)} == {1} for s in sizes)


Words = tuple[str, str, tuple[str, ...]]

_OWN_WORDS: Words = (
    "an operation of jax itself, outside jit",
    "move what runs on varying shapes under jit, with padded shapes, or do it in numpy",
    ("JAX104", "JAX105", "JAX109"),
)
_CONTROL_WORDS: Words = (
    "control flow outside jit, with a body that is made anew each time",
    "put the function that calls it under jit, or define the body once",
    ("JAX109",),
)
_IDENTITY_WORDS: Words = (
    "a static argument is a new object each time",
    "make the object once, or give it `__eq__` and `__hash__` by value",
    ("JAX107", "JAX108"),
)
_GROWING_WORDS: Words = (
    "an argument grows by one each time",
    "preallocate to the largest size and write at an index",
    ("JAX106", "JAX104"),
)
_WORDS: dict[Reason, Words] = {
    Reason.NEW: (
        "different functions of one name, or several processes",
        "make the callable once, outside the loop",
        ("JAX103",),
    ),
    Reason.REMADE: (
        "the function is a new object each time",
        "make the callable once, outside the loop (it costs compile time: what it compiled to is freed with it)",
        ("JAX103", "JAX109"),
    ),
    Reason.TYPES: (
        "the shape or dtype of an argument varies",
        "pad to a fixed size with a mask, use a few bucket sizes, or drop the last and smaller batch",
        ("JAX104", "JAX105", "JAX106"),
    ),
    Reason.WEAK: (
        "a Python number here, an array there",
        "start from an array of the dtype that comes back: `jnp.zeros((), x.dtype)`",
        ("JAX111",),
    ),
    Reason.STATIC: (
        "the value of a static argument varies",
        "pass it as an array (`jnp.asarray(n)`); where it is a shape, bound or branch, use a few values",
        ("JAX101", "JAX102"),
    ),
    Reason.STRUCTURE: (
        "the structure of an argument varies",
        "pass the same keys and the same number of leaves each time: an array in place of None",
        ("JAX110",),
    ),
    Reason.CALL_FORM: (
        "the same arguments are passed in different ways",
        "call it in one way: by position, or by keyword",
        ("JAX114",),
    ),
    Reason.CONTEXT: (
        "the configuration of jax, or a context manager, differs between calls",
        "set it once, before the first call",
        (),
    ),
    Reason.UNEXPLAINED: (
        "jax does not say what was new",
        "look for a static value that varies, or a callable that is made anew each time",
        ("JAX101", "JAX102", "JAX103", "JAX107"),
    ),
}
