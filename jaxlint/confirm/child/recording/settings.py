"""The settings of jax that jit distinguishes calls by."""

from __future__ import annotations

from typing import Any

_NAMES = (
    "jax_enable_x64",
    "jax_default_matmul_precision",
    "jax_default_device",
    "jax_numpy_rank_promotion",
    "jax_numpy_dtype_promotion",
    "jax_threefry_partitionable",
    "jax_default_prng_impl",
    "jax_debug_nans",
    "jax_debug_infs",
    "jax_softmax_custom_jvp",
    "jax_disable_jit",
)
_at_start: dict[str, str] = {}


def remember() -> None:
    """Take the present values for the ones that go without saying."""
    _at_start.update(_values())


def changed() -> dict[str, str]:
    """Those settings that are not as they were, thread-local ones included."""
    return {name: value for name, value in _values().items() if _at_start.get(name) != value}


def _values() -> dict[str, Any]:
    import jax

    return {name: str(getattr(jax.config, name)) for name in _NAMES if hasattr(jax.config, name)}
