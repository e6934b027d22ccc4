"""Inputs as settings write them: "f32[8,128]", "key[]", "pkg.mod:factory"; other values are as they are."""

from __future__ import annotations

import importlib
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
    if dtype == "key":
        return struct(lengths, jax.eval_shape(lambda: jax.random.key(0)).dtype)
    if dtype == "rawkey":
        return struct((*lengths, 2), jnp.uint32)
    name = _NAMES.get(dtype, dtype)
    try:
        return struct(lengths, jnp.dtype(getattr(jnp, name, name)))
    except TypeError:
        raise WrongSpec(f"{dtype!r} is no dtype (f32, bf16, i32, bool, key, ... are)") from None


def _factory(spec: str) -> Any:
    module, _, name = spec.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise WrongSpec(f"{spec!r} cannot be found: {error}") from None
    return found if callable(found) else lambda: found
