"""Where the inputs of a function come from: the first source that has some."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from . import abstract, callsites, jaxtyped, recorded, specs

_PROVIDER = "jaxlint_inputs"

Call = tuple[tuple[Any, ...], dict[str, Any]]


class NoInputs(Exception):
    """There are no inputs for a function. The text says what would give some."""


class Inputs(NamedTuple):
    """Arguments, shapes in place of arrays, and those of another call that was really made, if one is known.

    `source` says where they come from, `real` whether their sizes are those of the program's own use.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    source: str
    real: bool = True
    other: Call | None = None


def of(
    module: ModuleType,
    name: str,
    function: Any,
    given: Mapping[str, Any] | None,
    calls: Sequence[Mapping[str, Any]],
) -> Inputs:
    """The inputs of a function of a module: of a record (`calls`), the settings (`given`), annotations, the
    module's `jaxlint_inputs()`, or a call in the source. Raises NoInputs, WrongSpec, and what user code raises.
    """
    tried = []
    if calls:
        try:
            return _recorded(function, calls)
        except NoInputs as error:
            tried.append(str(error))
    if given is not None:
        return _given(f"{module.__name__}:{name}", function, given)
    if "." not in name:
        try:
            return Inputs(*jaxtyped.inputs(function), "annotations", real=False)
        except jaxtyped.NotAnnotated as error:
            tried.append(str(error))
    provided = getattr(module, _PROVIDER, None)
    if callable(provided):
        table = provided()
        if name in table:
            return Inputs(*_provided(table[name]), f"{_PROVIDER}()")
        tried.append(f"{_PROVIDER}() has no entry `{name}`")
    try:
        return Inputs(*_from_calls(module, name), "a call in the source")
    except callsites.NoCall as error:
        tried.append(str(error))
    key = f"{module.__name__}:{name}"
    raise NoInputs(f'no inputs: {"; ".join(tried)}. [tool.jaxlint.confirm."{key}"] can give them')


def _given(key: str, function: Any, given: Mapping[str, Any]) -> Inputs:
    """The inputs of the settings. Raises WrongSpec, also where they are not what the function takes."""
    try:
        args = tuple(specs.value(spec) for spec in given["args"])
        kwargs = {word: specs.value(spec) for word, spec in given["kwargs"].items()}
        with contextlib.suppress(ValueError):  # nobody knows what it takes
            signature = inspect.signature(function)
            signature.bind(*args, **kwargs)
    except specs.WrongSpec as error:
        raise specs.WrongSpec(f'[tool.jaxlint.confirm."{key}"]: {error}') from None
    except TypeError as error:
        taken = f"`{key.partition(':')[2]}{signature}`"
        raise specs.WrongSpec(f'[tool.jaxlint.confirm."{key}"] does not fit {taken}: {error}') from None
    return Inputs(args, kwargs, "settings")


def _recorded(function: Any, calls: Sequence[Mapping[str, Any]]) -> Inputs:
    """The recorded call with the largest arrays, and another one."""
    found: list[Call] = []
    reason = ""
    for call in calls:
        try:
            args, kwargs = recorded.inputs(call)
            inspect.signature(function).bind(*args, **kwargs)
        except recorded.NotHeld as error:
            reason = reason or str(error)
        except (TypeError, ValueError) as error:
            reason = reason or f"the recorded call does not fit `{function}` ({error})"
        else:
            found.append((args, kwargs))
    if not found:
        raise NoInputs(reason)
    found.sort(key=_bytes, reverse=True)
    return Inputs(*found[0], "the record", other=found[1] if len(found) > 1 else None)


def _bytes(call: Call) -> int:
    import jax

    leaves = jax.tree_util.tree_leaves(call)
    return sum(
        int(leaf.size) * int(getattr(leaf.dtype, "itemsize", 4))
        for leaf in leaves
        if isinstance(leaf, jax.ShapeDtypeStruct)
    )


def _provided(entry: Any) -> Call:
    """An entry of `jaxlint_inputs()`: args, or (args, kwargs)."""
    pair = (
        isinstance(entry, tuple)
        and len(entry) == 2
        and isinstance(entry[0], tuple)
        and isinstance(entry[1], dict)
    )
    args, kwargs = entry if pair else (tuple(entry), {})
    return abstract.shape_of(args), abstract.shape_of(kwargs)


def _from_calls(module: ModuleType, name: str) -> Call:
    file = inspect.getsourcefile(module)
    if file is None or not os.path.isfile(file):
        raise callsites.NoCall("the module has no source")
    with open(file, encoding="utf-8") as stream:
        return callsites.inputs(module, stream.read(), name)
