"""Inputs from jaxtyping annotations: each dimension name gets a size of its own, the same wherever it stands."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any

from . import specs

# Distinct, so that a dimension is not taken for another; no powers of two, which libraries treat specially.
_SIZES = (24, 40, 56, 72, 88, 104, 120, 136, 152, 168, 184, 200)
_PREFERRED = ("float32", "int32", "bool", "complex64", "uint32", "bfloat16")


class NotAnnotated(Exception):
    """The annotations do not give the inputs. The text names the parameter."""


def inputs(function: Callable[..., Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments for all parameters that have no default. Raises NotAnnotated."""
    try:
        signature = inspect.signature(function)
        hints = typing.get_type_hints(inspect.unwrap(function))
    except Exception as error:
        raise NotAnnotated(f"its annotations cannot be read ({type(error).__name__}: {error})") from None
    sizes: dict[str, int] = {}
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        made = _array(hints.get(name), sizes)
        if made is None:
            if parameter.default is not parameter.empty:
                continue
            raise NotAnnotated(f"`{name}` has no annotation that gives its shape and dtype")
        if parameter.kind is parameter.KEYWORD_ONLY:
            kwargs[name] = made
        else:
            args.append(made)
    if not args and not kwargs:
        raise NotAnnotated("no parameter has an annotation that gives a shape")
    return tuple(args), kwargs


def _array(hint: Any, sizes: dict[str, int]) -> Any:
    """The shape of a jaxtyping annotation, None for any other."""
    dimensions, dtypes = getattr(hint, "dims", None), getattr(hint, "dtypes", None)
    text = getattr(hint, "dim_str", None)
    if dimensions is None or dtypes is None or not isinstance(text, str):
        return None
    dtype = _dtype(dtypes)
    if dtype is None:
        return None
    lengths: list[int] = []
    for part in text.split():
        name = part.partition("=")[2] or part
        if part == "..." or part.startswith("*"):
            continue  # any number of dimensions: none is one of them
        if name.isdecimal():
            lengths.append(int(name))
        elif (plain := name.lstrip("#?")).isidentifier():
            lengths.append(
                sizes.setdefault(plain, _SIZES[len(sizes) % len(_SIZES)] + len(sizes) // len(_SIZES))
            )
        else:
            return None  # an expression such as "n-1"
    return specs.shape(dtype, tuple(lengths))


def _dtype(dtypes: Any) -> str | None:
    """One dtype that an annotation allows: `Float` is taken as float32. None where it says nothing."""
    if not isinstance(dtypes, (list, tuple)):
        return None
    names = [str(name) for name in dtypes]
    if any("key" in name for name in names):
        return "key"
    return next((name for name in _PREFERRED if name in names), names[0] if names else None)
