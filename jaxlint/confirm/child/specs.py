"""Inputs as settings write them: "f32[8,128]", "key[]", "pkg.mod:factory"; other values are as they are."""

from __future__ import annotations

import importlib
import math
import re
from typing import Any

_ARRAY = re.compile(r"\s*([a-z][a-z0-9_]*)\s*\[([\d\s,]*)\]\s*")
_FACTORY = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_NAMES = {
    "f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16", "i8": "int8", "i16": "int16",
    "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "c64": "complex64", "c128": "complex128", "bool": "bool_",
}  # fmt: skip


_DTYPES = frozenset({*_NAMES, *_NAMES.values(), "key", "rawkey"})


_MOST = 1 << 60  # bytes of one input: more than any cluster holds. XLA aborts where a size leaves 64 bits


class WrongSpec(ValueError):
    """A specification that names no dtype, no shape or no factory. The text says what was meant."""


def value(spec: Any) -> Any:
    """The input of a specification: shapes for arrays, what a factory makes, the value itself otherwise.

    Lists and tables are looked through. Raises WrongSpec.
    """
    from . import abstract

    if isinstance(spec, list):
        return [value(item) for item in spec]
    if isinstance(spec, dict):
        return {name: value(item) for name, item in spec.items()}
    if not isinstance(spec, str):
        return spec
    array = _ARRAY.fullmatch(spec)
    if array:
        return shape(array[1], tuple(int(part) for part in array[2].split(",") if part.strip()))
    if spec.partition("[")[0].strip() in _DTYPES and "[" in spec:
        raise WrongSpec(f"{spec!r} is no shape ('f32[8,128]' is one)")
    if _FACTORY.fullmatch(spec):
        factory = _factory(spec)
        return abstract.abstractly(factory)
    return spec


def shape(dtype: str, lengths: tuple[int, ...]) -> Any:
    """A shape and dtype; "key" is a typed PRNG key, "rawkey" one as two words. Raises WrongSpec."""
    import jax
    import jax.numpy as jnp

    struct: Any = jax.ShapeDtypeStruct
    if dtype in ("key", "rawkey"):
        _fitting(dtype, lengths, 8)
    if dtype == "key":
        return struct(lengths, jax.eval_shape(lambda: jax.random.key(0)).dtype)
    if dtype == "rawkey":
        return struct((*lengths, 2), jnp.uint32)
    name = _NAMES.get(dtype, dtype)
    try:
        found = jnp.dtype(getattr(jnp, name, name))
    except TypeError:
        raise WrongSpec(f"{dtype!r} is no dtype (f32, bf16, i32, bool, key, ... are)") from None
    _fitting(dtype, lengths, found.itemsize)
    return struct(lengths, found)


def _fitting(dtype: str, lengths: tuple[int, ...], itemsize: int) -> None:
    """Raises WrongSpec of a shape that no machine can hold; `itemsize` in bytes."""
    if max(lengths, default=0) > _MOST or math.prod(lengths) * itemsize > _MOST:
        shown = f"{dtype}[{','.join(map(str, lengths))}]"
        raise WrongSpec(f"{shown!r} is too large: no array has more than 2^60 bytes")


def _factory(spec: str) -> Any:
    module, _, name = spec.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise WrongSpec(f"{spec!r} cannot be found: {error}") from None
    return found if callable(found) else lambda: found
