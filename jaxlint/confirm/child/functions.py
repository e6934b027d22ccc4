"""Functions of a module, given inputs and traced or called, as a program would have done."""

from __future__ import annotations

import inspect
import os
from types import ModuleType
from typing import Any

from . import abstract, callsites, jaxtyped, kept, load, memory, outputs, serve, specs
from .recording.definitions import definition

_PROVIDER = "jaxlint_inputs"


class NoInputs(Exception):
    """There are no inputs for a function. The text says what would give some."""


def exercise(module: ModuleType, name: str, given: dict[str, Any] | None, how: str) -> dict[str, Any]:
    """Trace or call a function of a module.

    `given` are the inputs of the settings, {"args": [...], "kwargs": {...}}; `how` is "trace" (jit, lowered with
    shapes alone) or "call" (with random values, as it is). Returns `source` (where the inputs come from), `real`
    (whether their sizes are those of the program's own use) and `raised`, as in `serve.raised`, or None.
    """
    try:
        function = load.member(module, name)
    except AttributeError as error:
        return _none(f"`{name}` cannot be reached: {error}")
    try:
        args, kwargs, source, real = _inputs(module, name, function, given)
    except (NoInputs, specs.WrongSpec) as error:
        return _none(str(error))
    except Exception as error:
        return _none(f"its inputs cannot be made: {type(error).__name__}: {error}")
    try:
        _trace(function, args, kwargs) if how == "trace" else _call(function, args, kwargs)
    except BaseException as error:
        return {"source": source, "real": real, "raised": serve.raised(error), "without": ""}
    return {"source": source, "real": real, "raised": None, "without": ""}


def _none(reason: str) -> dict[str, Any]:
    return {"source": "", "real": False, "raised": None, "without": reason}


def _trace(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Lower a boundary, or trace a plain function as it would be within one."""
    import jax

    place = definition(function)
    made = kept.made_as(function)
    if made is not None:
        api, body = made
        _lower(kept.Trace(api, function, body, args, kwargs, 0), place)
        return
    dynamic, rebuild = _shapes((args, kwargs))

    def call(arrays: list[Any]) -> Any:
        args, kwargs = rebuild(arrays)
        result = function(*args, **kwargs)
        return [leaf for leaf in jax.tree_util.tree_leaves(result) if hasattr(leaf, "dtype")]

    _lower(kept.Trace("jax.jit", jax.jit(call), call, (dynamic,), {}, 0), place)


def _lower(trace: kept.Trace, place: list[Any]) -> None:
    jitted, args, kwargs = memory.lowerable(trace)
    with kept.registered(trace, place):
        jitted.lower(*args, **kwargs)


def _shapes(tree: Any) -> tuple[list[Any], Any]:
    """The shapes of a tree, and how to put arrays in their place."""
    import jax

    leaves, definition = jax.tree_util.tree_flatten(tree)
    shapes = [leaf for leaf in leaves if isinstance(leaf, jax.ShapeDtypeStruct)]

    def rebuild(arrays: list[Any]) -> Any:
        rest = iter(arrays)
        filled = [next(rest) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf for leaf in leaves]
        return jax.tree_util.tree_unflatten(definition, filled)

    return shapes, rebuild


def _call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    import jax
    import numpy

    args, kwargs = outputs.filled((args, kwargs), numpy.random.default_rng(0))
    ready: Any = jax.block_until_ready
    ready(function(*args, **kwargs))


# ---------------------------------------------------------------- inputs


def _inputs(
    module: ModuleType, name: str, function: Any, given: dict[str, Any] | None
) -> tuple[tuple[Any, ...], dict[str, Any], str, bool]:
    """Inputs by the first source that has some: settings, annotations, provider, calls. Raises NoInputs."""
    if given is not None:
        args = tuple(specs.value(spec) for spec in given["args"])
        kwargs = {word: specs.value(spec) for word, spec in given["kwargs"].items()}
        return args, kwargs, "settings", True
    tried = []
    if "." not in name:
        try:
            return *jaxtyped.inputs(function), "annotations", False
        except jaxtyped.NotAnnotated as error:
            tried.append(str(error))
    provided = getattr(module, _PROVIDER, None)
    if callable(provided):
        table = provided()
        if name in table:
            return *_provided(table[name]), f"{_PROVIDER}()", True
        tried.append(f"{_PROVIDER}() has no entry `{name}`")
    try:
        return *_from_calls(module, name, function), "a call in the source", True
    except callsites.NoCall as error:
        tried.append(str(error))
    key = f"{module.__name__}:{name}"
    raise NoInputs(f'no inputs: {"; ".join(tried)}. [tool.jaxlint.confirm."{key}"] can give them')


def _provided(entry: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """An entry of `jaxlint_inputs()`: args, or (args, kwargs)."""
    pair = (
        isinstance(entry, tuple)
        and len(entry) == 2
        and isinstance(entry[0], tuple)
        and isinstance(entry[1], dict)
    )
    args, kwargs = entry if pair else (tuple(entry), {})
    return abstract.shape_of(args), abstract.shape_of(kwargs)


def _from_calls(module: ModuleType, name: str, function: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if "." in name:
        raise callsites.NoCall("a method needs an instance")
    file = inspect.getsourcefile(module)
    if file is None or not os.path.isfile(file):
        raise callsites.NoCall("the module has no source")
    with open(file, encoding="utf-8") as stream:
        return callsites.inputs(module, stream.read(), name)
