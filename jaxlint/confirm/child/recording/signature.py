"""What jit distinguishes calls by, as text: one entry for each leaf, static value and container.

    {"batch['x']": "float32[4,3]", "state": "TrainState", "state.tx": "static <Adam> #2", "n": "static 3"}

Texts of equal things are equal and those of unlike things differ, so that a comparison says what changed. Nothing
of the user's is kept alive, no operation is added to the trace, and no `repr` of a user's class is called.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import hashlib
import inspect
import itertools
import sys
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

MOST = 400  # entries that are kept; the others count by a digest of all
_LONGEST = 80  # characters of a value
_SCALARS = (bool, int, float, complex, str, bytes)


def signature(
    args: tuple[Any, ...], kwargs: dict[str, Any], parameters: inspect.Signature | None
) -> dict[str, str]:
    """The entries of a call, by the names of the parameters."""
    entries: dict[str, str] = {}
    for name, value in _named(args, kwargs, parameters):
        entries.update(_entries(name, value))
    if len(entries) > MOST:
        whole = hashlib.sha256(repr(sorted(entries.items())).encode()).hexdigest()[:12]
        kept = dict(itertools.islice(entries.items(), MOST))
        return {**kept, "...": f"{len(entries) - MOST} more, digest {whole}"}
    return entries


def form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """How arguments are passed, which jit distinguishes too: "2 positional, n, mask"."""
    return ", ".join([f"{len(args)} positional", *sorted(kwargs)])


def _named(
    args: tuple[Any, ...], kwargs: dict[str, Any], parameters: inspect.Signature | None
) -> Iterator[tuple[str, Any]]:
    if parameters is not None:
        try:
            bound = parameters.bind(*args, **kwargs).arguments
        except TypeError:  # the call itself will say so
            bound = None
        if bound is not None:
            for name, value in bound.items():
                kind = parameters.parameters[name].kind
                if kind is inspect.Parameter.VAR_POSITIONAL:
                    yield from ((f"*{name}[{index}]", item) for index, item in enumerate(value))
                elif kind is inspect.Parameter.VAR_KEYWORD:
                    yield from value.items()
                else:
                    yield name, value
            return
    yield from ((f"argument {index}", value) for index, value in enumerate(args))
    yield from kwargs.items()


# ---------------------------------------------------------------- trees


def _entries(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """A value's own entry and those of what is in it."""
    if is_nnx(value):
        yield from _nnx_entries(name, value, set())
        return
    from jax.tree_util import keystr, tree_flatten_with_path

    children, _ = tree_flatten_with_path(value, is_leaf=lambda part: part is not value)
    if value is None or (len(children) == 1 and not children[0][0]):  # no container
        yield name, leaf(value)
        return
    yield name, _container(value, len(children))
    keys = {_key(path) for path, _ in children}
    yield from ((f"{name}.{field}", leaf(each)) for field, each in _metadata(value, keys))
    for path, child in children:
        yield from _entries(name + keystr(path), child)


def _container(value: Any, size: int) -> str:
    kind = type(value).__qualname__
    if isinstance(value, Mapping):
        return f"{kind} with {', '.join(sorted(map(str, value)))}"[:400]
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return f"{kind} of {size}"
    return kind


def _metadata(value: Any, children: set[str]) -> Iterator[tuple[str, Any]]:
    """The fields of a dataclass that are no children: static fields, metadata."""
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if field.name not in children and field.name in getattr(value, "__dict__", {}):
                yield field.name, getattr(value, field.name)


def _key(path: tuple[Any, ...]) -> str:
    return str(getattr(path[0], "name", "")) if path else ""


def is_nnx(value: Any) -> bool:
    """Whether a value is a module or a variable of flax.nnx, if that is imported."""
    nnx = sys.modules.get("flax.nnx")
    kinds = tuple(kind for name in ("Module", "Object", "Variable") if (kind := getattr(nnx, name, None)))
    return bool(kinds) and isinstance(value, kinds)


def _nnx_entries(name: str, value: Any, seen: set[int]) -> Iterator[tuple[str, str]]:
    """An nnx module attribute by attribute: Variables are traced, plain attributes static."""
    if id(value) in seen:
        return
    seen.add(id(value))
    nnx = sys.modules["flax.nnx"]
    if isinstance(value, nnx.Variable):
        raw = value.get_raw_value() if hasattr(value, "get_raw_value") else value.raw_value
        yield from _entries(name, raw)
        return
    yield name, type(value).__qualname__
    for attribute, item in sorted(vars(value).items()):
        if attribute.startswith(("_object__", "_pytree__")):
            continue
        path = f"{name}.{attribute}"
        if is_nnx(item):
            yield from _nnx_entries(path, item, seen)
        elif isinstance(item, (list, tuple, dict)):
            for key, part in item.items() if isinstance(item, dict) else enumerate(item):
                entries = _nnx_entries(f"{path}[{key!r}]", part, seen) if is_nnx(part) else ()
                yield from entries or [(f"{path}[{key!r}]", leaf(part))]
        else:
            yield path, leaf(item)


# ---------------------------------------------------------------- leaves


def leaf(value: Any) -> str:
    """An array by dtype and shape, anything else by its value where that can be told, or by its identity."""
    if value is None:
        return "None"
    aval = getattr(value, "aval", None)
    described = aval if aval is not None else value
    if hasattr(described, "shape") and hasattr(described, "dtype") and not isinstance(value, type):
        shape = ",".join(map(str, described.shape))
        return f"{described.dtype}[{shape}]{' weak' if getattr(described, 'weak_type', False) else ''}"
    return f"static {_static(value)}"


def _static(value: Any, depth: int = 2) -> str:
    kind = type(value)
    if kind in _SCALARS:
        return _cut(repr(value))
    if isinstance(value, enum.Enum):
        return f"{kind.__qualname__}.{value.name}"
    if isinstance(value, type):
        return f"class {value.__qualname__}"
    if kind in (tuple, list, frozenset) and depth:
        return _cut(f"{kind.__name__}({', '.join(_static(item, depth - 1) for item in value)})")
    if kind is dict and depth:
        return _cut(f"{{{', '.join(f'{key!s}: {_static(item, depth - 1)}' for key, item in value.items())}}}")
    if kind.__module__.partition(".")[0] in ("numpy", "jax", "ml_dtypes") and not callable(value):
        return _cut(f"{kind.__name__} {value}")
    if dataclasses.is_dataclass(kind) and _by_value(kind) and depth:
        fields = (field for field in dataclasses.fields(kind) if field.compare)
        parts = (f"{field.name}={_static(getattr(value, field.name, None), depth - 1)}" for field in fields)
        return _cut(f"{kind.__qualname__}({', '.join(parts)})")
    shown = getattr(value, "__qualname__", "") if callable(value) else ""
    name = f"<{kind.__qualname__}{f' {shown}' if isinstance(shown, str) and shown else ''}>"
    if _by_value(kind) and kind.__hash__ is not None:
        try:
            return f"{name} with hash {hash(value) & 0xFFFFFF:06x}"  # jit has just asked for it as well
        except Exception:
            return name
    return f"{name} #{serial(value)}"


def _by_value(kind: Any) -> bool:
    """Whether objects of a class are compared by more than identity."""
    return kind.__eq__ is not object.__eq__


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - 16]}... {hashlib.sha256(text.encode(errors='replace')).hexdigest()[:8]}"


_numbers: dict[int, tuple[Any, int]] = {}
_count = itertools.count(1)


def serial(value: Any) -> int:
    """A number for an object, the same as long as it lives, and no other object's."""
    known = _numbers.get(id(value))
    if known is not None and known[0]() is value:
        return known[1]
    number = next(_count)
    with contextlib.suppress(TypeError):  # what knows no weak reference would have to be kept alive
        _numbers[id(value)] = (weakref.ref(value), number)
    return number
