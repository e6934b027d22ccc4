"""What the executable of a boundary takes on a target, and the buffers that are live at its peak."""

from __future__ import annotations

import json
import time
from typing import Any

from . import deviceless, kept, peak


def run(trace: int, target: dict[str, Any], root: str) -> dict[str, Any]:
    """Lower and compile a kept trace for a target; nothing is run and nothing large allocated.

    Bytes by name as XLA counts them, `constant_bytes` of the arrays captured by the trace, `donated` whether any
    argument is, `donatable_bytes` of the arguments that are not and that an output could take the place of, `peak`
    as in `peak.compile_explained` (lines of files below `root`), `seconds` to compile.
    """
    return measured(trace, target, root, lowered_for(trace, target))


def measured(trace: int, target: dict[str, Any], root: str, lowered: Any) -> dict[str, Any]:
    """The same of a trace that has been lowered."""
    jitted, args, kwargs = lowerable(kept.trace(trace))
    device = deviceless.device(target)
    begun = time.perf_counter()
    compiled, buffers = peak.compile_explained(getattr(lowered, "lowered", lowered), device, root)
    seconds = time.perf_counter() - begun
    stats = compiled.memory_analysis()
    return {
        "argument_bytes": int(stats.argument_size_in_bytes),
        "output_bytes": int(stats.output_size_in_bytes),
        "alias_bytes": int(stats.alias_size_in_bytes),
        "temp_bytes": int(stats.temp_size_in_bytes),
        "constant_bytes": _constants(jitted, args, kwargs),
        "donated": _donated(lowered),
        "donatable_bytes": _donatable(lowered),
        "seconds": round(seconds, 3),
        "peak": buffers,
    }


_lowered: dict[tuple[int, str], Any] = {}  # the one that was asked for last: it is compiled next, if at all


def lowered_for(trace: int, target: dict[str, Any]) -> Any:
    """A kept trace as written, lowered for a target."""
    key = trace, json.dumps(target, sort_keys=True)
    if key not in _lowered:
        _lowered.clear()
        _lowered[key] = lowered_now(trace, target)
    return _lowered[key]


def lowered_now(trace: int, target: dict[str, Any]) -> Any:
    """A kept trace, traced again if jax has forgotten it, and lowered for a target."""
    jitted, args, kwargs = lowerable(kept.trace(trace))
    return deviceless.lower(jitted, args, kwargs, deviceless.device(target))


def lowerable(trace: kept.Trace) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """A function with `lower`, and the arguments for it.

    `eqx.filter_jit` takes shapes for static values: its function is jitted here, over the leaves that are shapes.
    """
    if not trace.api.startswith("eqx"):
        return trace.jitted, trace.args, trace.kwargs
    import equinox
    import jax

    shapes, static = equinox.partition((trace.args, trace.kwargs), _is_shape)
    (first, *others), named = shapes[0] or ((),), shapes[1]

    def call(first: Any, others: Any) -> Any:
        arrays = ((first, *others[0]) if shapes[0] else (), others[1])
        args, kwargs = equinox.combine(arrays, static)
        return equinox.filter(trace.function(*args, **kwargs), equinox.is_array)

    donated = [
        number
        for number, name in enumerate(("donate_first", "donate_rest"))
        if getattr(trace.jitted, name, False)
    ]
    return jax.jit(call, donate_argnums=tuple(donated)), (first, (tuple(others), named)), {}


def _is_shape(leaf: Any) -> bool:
    import jax

    return isinstance(leaf, jax.ShapeDtypeStruct)


def _constants(jitted: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int | None:
    """Bytes of the arrays that a trace captures, None where this jax or this boundary does not tell."""
    if not hasattr(jitted, "trace"):
        return None
    try:
        closed = jitted.trace(*args, **kwargs).jaxpr
    except Exception:
        return None
    return sum(int(getattr(constant, "nbytes", 0)) for constant in closed.consts)


def _donated(lowered: Any) -> bool:
    import jax

    info = getattr(lowered, "args_info", ())
    leaves = jax.tree_util.tree_leaves(info, is_leaf=lambda leaf: hasattr(leaf, "donated"))
    return any(getattr(leaf, "donated", False) for leaf in leaves)


def _donatable(lowered: Any) -> int | None:
    """Bytes of outputs for which there is an argument of the same shape and dtype that is not donated."""
    import jax

    info, results = getattr(lowered, "args_info", None), getattr(lowered, "out_info", None)
    if info is None or results is None:
        return None
    leaves = jax.tree_util.tree_leaves(info, is_leaf=lambda leaf: hasattr(leaf, "donated"))
    free: dict[tuple[Any, ...], int] = {}
    for leaf in leaves:
        if not getattr(leaf, "donated", True):
            key = tuple(leaf.shape), str(leaf.dtype)
            free[key] = free.get(key, 0) + 1
    total = 0
    for leaf in jax.tree_util.tree_leaves(results):
        key = tuple(getattr(leaf, "shape", ())), str(getattr(leaf, "dtype", ""))
        if free.get(key, 0):
            free[key] -= 1
            total += _size(leaf.shape) * _itemsize(leaf.dtype)
    return total


def _size(shape: Any) -> int:
    found = 1
    for length in shape:
        found *= int(length)
    return found


def _itemsize(dtype: Any) -> int:
    return int(getattr(dtype, "itemsize", 4))
