"""Calls that jit: canonical dotted name → flavour.

The flavour decides what is static. "jax" and "pmap" trace every argument but those named static (Python
numbers included); "filter" (Equinox) treats everything that is not an array as static; "nnx" traces Python
numbers but keys on the graph definition, plain attributes included; "linen" behaves as "jax". Measured on
jax 0.4.35, 0.6.2 and 0.10.2.
"""

from __future__ import annotations

BOUNDARIES: dict[str, str] = {
    "jax.jit": "jax",
    "jax.pjit": "jax",
    "jax.experimental.pjit.pjit": "jax",
    "jax.pmap": "pmap",
    "equinox.filter_jit": "filter",
    "equinox.filter_pmap": "filter",
    "flax.nnx.jit": "nnx",
    "flax.nnx.pmap": "nnx",
    "flax.nnx.jit_partial": "nnx",
    "flax.linen.jit": "linen",
    "haiku.jit": "linen",
    "jax_dataclasses.jit": "jax",
}

# Wrappers that hand back a callable with the same jit behaviour as the one they are given.
TRANSPARENT: frozenset[str] = frozenset(
    {
        "jaxtyping.jaxtyped",
        "beartype.beartype",
        "typeguard.typechecked",
        "jax.named_call",
        "jax.named_scope",
        "jax.profiler.annotate_function",
        "jax.custom_jvp",
        "jax.custom_vjp",
        "jax.custom_gradient",
        "jax.custom_batching.custom_vmap",
        "equinox.filter_custom_jvp",
        "equinox.filter_custom_vjp",
        "flax.linen.compact",
        "flax.linen.nowrap",
        "haiku.transparent",
        "typing.no_type_check",
        "typing.final",
        "typing.overload",
        "abc.abstractmethod",
        "builtins.staticmethod",
        "chex.chexify",
    }
)

# Trace counters that must be inside the boundary: Equinox's counts the calls of what it wraps, chex refuses
# a transformed function when it decorates one.
TRACE_GUARDS: frozenset[str] = frozenset({"equinox.debug.assert_max_traces", "chex.assert_max_traces"})

HAIKU_TRANSFORMS: frozenset[str] = frozenset(
    {
        "haiku.transform",
        "haiku.transform_with_state",
        "haiku.without_apply_rng",
        "haiku.multi_transform",
        "haiku.without_state",
    }
)
