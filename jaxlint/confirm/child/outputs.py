"""What a boundary computes from random inputs, kept in a file so that another process can compare."""

from __future__ import annotations

import os
import time
from typing import Any

from . import kept, memory

INPUTS = 4
_ENOUGH = 10.0  # seconds after which no further inputs are tried

# Relative to the largest value of an output: what reordering a sum may change at each precision.
_TOLERANCE = {"float64": 1e-9, "complex128": 1e-9, "float32": 1e-4, "complex64": 1e-4}
_TOLERANCE_LOW = 3e-2  # bfloat16, float16 and smaller


def run(trace: int, directory: str, compare: bool) -> dict[str, Any]:
    """Call what a kept trace was made of on random inputs and write the outputs into a directory.

    With `compare` what lies there already is compared instead: `equal`, `worst` (the largest relative difference)
    and `inputs`, the number of inputs that both were called with; those that give NaN as written are left out.
    """
    import numpy

    one = kept.trace(trace)
    begun = time.monotonic()
    worst, number, equal = 0.0, 0, True
    for seed in range(INPUTS):
        path = os.path.join(directory, f"{seed}.npz")
        if compare and not os.path.exists(path):
            continue
        outputs = _call(one, seed)
        number += 1
        if compare:
            with numpy.load(path) as known:
                difference = _difference([known[f"arr_{i}"] for i in range(len(known.files))], outputs)
            worst = max(worst, difference[1])
            equal = equal and difference[0]
        else:
            if not any(_has_nan(output) for output in outputs):  # else nothing can be told from this input
                numpy.savez(path, *outputs)
            if time.monotonic() - begun > _ENOUGH:
                break
    return {"equal": equal, "worst": worst, "inputs": number}


def _call(trace: kept.Trace, seed: int) -> list[Any]:
    """The outputs, as arrays of numpy in the order of the tree."""
    import jax
    import numpy

    generator = numpy.random.default_rng(seed)
    if trace.api.startswith("nnx"):
        jitted, (args, kwargs) = trace.jitted, _nnx(trace, generator)
    else:
        jitted, args, kwargs = memory.lowerable(trace)
        args, kwargs = filled((args, kwargs), generator)
    result = jitted(*args, **kwargs)
    return [
        numpy.asarray(_plain(leaf))
        for leaf in jax.tree_util.tree_leaves(result)
        if hasattr(leaf, "dtype") and hasattr(leaf, "shape")
    ]


def _nnx(trace: kept.Trace, generator: Any) -> Any:
    from flax import nnx

    definition, state = nnx.split((trace.args, trace.kwargs))
    return nnx.merge(definition, filled(state, generator))


def filled(tree: Any, generator: Any) -> Any:
    """The tree with values for shapes. Integers are 0 or 1, so that they can be indices."""
    import jax

    def fill(leaf: Any) -> Any:
        return _value(leaf, generator) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf

    return jax.tree_util.tree_map(fill, tree)


def _value(leaf: Any, generator: Any) -> Any:
    import jax
    import jax.numpy as jnp

    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        key = jax.random.key(int(generator.integers(1 << 30)))
        return jax.random.split(key, leaf.shape) if leaf.shape else key
    if jnp.issubdtype(leaf.dtype, jnp.floating) or jnp.issubdtype(leaf.dtype, jnp.complexfloating):
        drawn = generator.uniform(0.05, 0.95, leaf.shape)
    elif jnp.issubdtype(leaf.dtype, jnp.bool_):
        drawn = generator.integers(0, 2, leaf.shape)
    else:
        drawn = generator.integers(0, 2, leaf.shape)
    array = jnp.asarray(drawn, leaf.dtype)
    # A weak scalar stays one, or the call would be another trace.
    return array if leaf.shape or not getattr(leaf, "weak_type", False) else drawn.item()


def _plain(leaf: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf


def _difference(known: list[Any], outputs: list[Any]) -> tuple[bool, float]:
    """Whether two lists of arrays are the same up to rounding, and the largest relative difference."""
    import numpy

    if len(known) != len(outputs):
        return False, float("inf")
    worst, equal = 0.0, True
    for left, right in zip(known, outputs, strict=True):
        if left.shape != right.shape:
            return False, float("inf")
        kind = str(right.dtype)
        if right.dtype.kind not in "fcV":
            equal = equal and bool(numpy.array_equal(left, right))
            continue
        a, b = _wide(left, right.dtype), _wide(right, right.dtype)
        scale = float(numpy.nanmax(numpy.abs(a), initial=0.0)) or 1.0
        relative = float(numpy.nanmax(numpy.abs(a - b), initial=0.0)) / scale
        same_nan = bool(numpy.array_equal(numpy.isnan(a), numpy.isnan(b)))
        worst = max(worst, relative)
        equal = equal and same_nan and relative <= _TOLERANCE.get(kind, _TOLERANCE_LOW)
    return equal, worst


def _has_nan(array: Any) -> bool:
    import numpy

    return bool(numpy.isnan(_wide(array, array.dtype)).any()) if array.dtype.kind in "fcV" else False


def _wide(array: Any, dtype: Any) -> Any:
    """As double precision. What numpy has no name for (bfloat16) comes back from a file as bytes."""
    import numpy

    if array.dtype.kind == "V":
        array = array.view(dtype)
    return array.astype(numpy.complex128 if array.dtype.kind == "c" else numpy.float64)
