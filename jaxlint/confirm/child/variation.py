"""A second call that differs from a first one in what a claim about retraces says to matter, and in no more."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

Call = tuple[tuple[Any, ...], dict[str, Any]]


class Variant(NamedTuple):
    """A second call, shapes in place of arrays. `text` says what differs, "" where nothing but the values does."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    text: str


def variants(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], causes: Sequence[str], names: Sequence[str]
) -> Iterator[Variant]:
    """Second calls to try, the likeliest first.

    `causes` are what jit's cache distinguishes by (`jaxlint.recording.changes.Cause`), `names` the parameters that
    the claim is about: none of them, no variant.
    """
    try:
        signature = inspect.signature(function)
        arguments = dict(signature.bind(*args, **kwargs).arguments)
    except (TypeError, ValueError):
        return
    positional = [each.name for each in signature.parameters.values() if each.kind in _POSITIONAL]
    for cause in causes:
        for name in names:
            if name not in arguments:
                continue
            if cause == "form of the call":
                yield from _other_form(args, kwargs, positional, name)
            elif cause in _CHANGES:
                for changed, text in _CHANGES[cause](arguments, name):
                    yield Variant(*_with(args, kwargs, positional, changed), text)


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _with(
    args: tuple[Any, ...], kwargs: dict[str, Any], positional: list[str], changed: dict[str, Any]
) -> Call:
    """The call with some arguments changed, each passed the way it was: the form of a call counts, too."""
    numbered = {name: number for number, name in enumerate(positional[: len(args)])}
    others = list(args)
    named = dict(kwargs)
    for name, value in changed.items():
        if name in numbered:
            others[numbered[name]] = value
        else:
            named[name] = value
    return tuple(others), named


Changed = Iterator[tuple[dict[str, Any], str]]


def _other_value(arguments: dict[str, Any], name: str) -> Changed:
    value = arguments[name]
    if isinstance(value, bool):
        changed: Any = not value
    elif isinstance(value, int):
        changed = value + 1
    elif isinstance(value, float):
        changed = value * 1.5 + 0.5
    else:
        return
    yield {name: changed}, f"{name}: {value} -> {changed}"


def _other_length(arguments: dict[str, Any], name: str) -> Changed:
    """One less along the first axis: of all arguments that share its length, as batches do, else of it alone."""
    import jax

    length = _length(arguments[name])
    if length is None:
        return
    other = length - 1 if length > 1 else length + 1
    struct: Any = jax.ShapeDtypeStruct

    def shorter(leaf: Any) -> Any:
        if isinstance(leaf, jax.ShapeDtypeStruct) and leaf.shape[:1] == (length,):
            return struct((other, *leaf.shape[1:]), leaf.dtype)
        return leaf

    text = f"length of {name}: {length} -> {other}"
    alike = [each for each, value in arguments.items() if _length(value) == length]
    for chosen in dict.fromkeys((tuple(alike), (name,))):
        yield {each: jax.tree_util.tree_map(shorter, arguments[each]) for each in chosen}, text


def _length(value: Any) -> int | None:
    """The first length of all arrays of an argument, None where they have none in common."""
    import jax

    leaves = [leaf for leaf in jax.tree_util.tree_leaves(value) if isinstance(leaf, jax.ShapeDtypeStruct)]
    lengths = {leaf.shape[0] if leaf.shape else None for leaf in leaves}
    return lengths.pop() if len(lengths) == 1 else None


def _other_structure(arguments: dict[str, Any], name: str) -> Changed:
    value = arguments[name]
    if isinstance(value, dict) and len(value) > 1:
        last = list(value)[-1]
        rest = {key: item for key, item in value.items() if key != last}
        yield {name: rest}, f"{name}: with and without {last!r}"
    elif value is not None:
        yield {name: None}, f"{name}: a value -> None"


def _other_weakness(arguments: dict[str, Any], name: str) -> Changed:
    import jax

    value = arguments[name]
    struct: Any = jax.ShapeDtypeStruct
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        dtype = jax.dtypes.canonicalize_dtype(type(value))
        yield {name: struct((), dtype)}, f"{name}: {value} -> {dtype}[]"
    elif isinstance(value, jax.ShapeDtypeStruct) and value.shape == ():
        weak = bool(getattr(value, "weak_type", False))
        changed = struct((), value.dtype, weak_type=not weak)
        shown = f"{value.dtype}[] -> a Python number"
        yield {name: changed}, f"{name}: {f'a Python number -> {value.dtype}[]' if weak else shown}"


def _other_form(
    args: tuple[Any, ...], kwargs: dict[str, Any], positional: list[str], name: str
) -> Iterator[Variant]:
    """What was passed by position, with what follows it, by keyword; or the other way round."""
    at = positional.index(name) if name in positional else len(args) + 1
    if at < len(args) <= len(positional):
        moved = dict(zip(positional[at : len(args)], args[at:], strict=True))
        yield Variant(args[:at], {**moved, **kwargs}, f"{name}: by position -> by keyword")
    elif at == len(args) and name in kwargs:
        rest = {word: value for word, value in kwargs.items() if word != name}
        yield Variant((*args, kwargs[name]), rest, f"{name}: by keyword -> by position")


_CHANGES: dict[str, Callable[[dict[str, Any], str], Changed]] = {
    "static value": _other_value,
    "shape": _other_length,
    "structure": _other_structure,
    "weak type": _other_weakness,
    "dtype": _other_weakness,
}
