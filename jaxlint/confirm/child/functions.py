"""Functions of a module, given inputs and traced or called, as a program would have done."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from . import events, inputs, kept, load, memory, outputs, serve, specs, variation
from .recording.definitions import definition


def exercise(
    module: ModuleType,
    name: str,
    given: dict[str, Any] | None,
    how: str,
    recorded: Sequence[dict[str, Any]] = (),
    callers: Sequence[dict[str, Any]] = (),
    times: int = 1,
    again: bool = False,
    causes: Sequence[str] = (),
    names: Sequence[str] = (),
) -> dict[str, Any]:
    """Trace or call a function of a module.

    `given` are the inputs of the settings, {"args": [...], "kwargs": {...}}, `recorded` those of calls that a
    record holds; `how` is "trace" (jit, lowered with shapes alone) or "call" (with random values, as it is,
    `times` over). Where it has no inputs, one of its `callers` ({"name", "given", "recorded"}, nearest first) is
    traced in its stead. A second call, for a claim about retraces, differs in one of the `causes`, in one of the
    parameters `names` (`variation`), or, with `again`, in the random values alone.

    Returns `name` (of the function that was used), `source` (where the inputs come from), `real` (whether their
    sizes are those of the program's own use), `without` (why there are none, else ""), `raised`, as in
    `serve.raised`, or None, `calls` (for each call, the names of what was compiled in it) and `varied` (what
    differed in the second one, "" if there was none).
    """
    reasons = []
    for one in ({"name": name, "given": given, "recorded": recorded}, *callers):
        found = _inputs(module, **one)
        if isinstance(found, str):
            reasons.append(found)
            continue
        function, made = found
        if one["name"] != name and not (made.args or made.kwargs):
            continue  # that is a program
        told: dict[str, Any] = {
            "name": one["name"],
            "source": made.source,
            "real": made.real,
            "without": "",
            "raised": None,
        }
        told.update(calls=[], varied="")
        try:
            if how == "trace":
                _trace(function, made.args, made.kwargs)
            else:
                for seed in range(times):
                    _call(function, (made.args, made.kwargs), seed, told["calls"])
                told["varied"] = _second(function, made, told["calls"], again, causes, names)
        except BaseException as error:
            told["raised"] = serve.raised(error)
        return told
    told = {"name": name, "source": "", "real": False, "raised": None, "without": reasons[0]}
    return {**told, "calls": [], "varied": ""}


def _inputs(
    module: ModuleType, name: str, given: dict[str, Any] | None, recorded: Sequence[dict[str, Any]]
) -> tuple[Any, inputs.Inputs] | str:
    """A function and its inputs, or why there are none."""
    try:
        function = load.member(module, name)
    except AttributeError as error:
        return f"`{name}` cannot be reached: {error}"
    if not callable(function):
        return f"`{name}` is no function"
    try:
        return function, inputs.of(module, name, function, given, recorded)
    except (inputs.NoInputs, specs.WrongSpec) as error:
        return str(error)
    except Exception as error:
        return f"its inputs cannot be made: {type(error).__name__}: {error}"


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


def _call(function: Any, call: inputs.Call, seed: int, calls: list[list[str]]) -> None:
    """Call with random values, and note what was compiled meanwhile."""
    import jax
    import numpy

    args, kwargs = outputs.filled(call, numpy.random.default_rng(seed))
    before = len(events.compiles)
    ready: Any = jax.block_until_ready
    ready(function(*args, **kwargs))
    calls.append([str(event["name"]) for event in events.compiles[before:]])


def _second(
    function: Any,
    made: inputs.Inputs,
    calls: list[list[str]],
    again: bool,
    causes: Sequence[str],
    names: Sequence[str],
) -> str:
    """Call once more with something changed, and say what; "" where there is nothing to change."""
    if again:
        _call(function, (made.args, made.kwargs), 1, calls)
        return "once more"
    if not causes:
        return ""
    if made.other is not None:
        _call(function, made.other, 0, calls)
        return "as in two calls of the record"
    for variant in variation.variants(function, made.args, made.kwargs, causes, names):
        try:
            _call(function, variant[:2], 0, calls)
        except Exception:
            continue  # it does not work so: another one may
        return variant.text
    return ""
