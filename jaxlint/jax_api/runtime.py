"""What initialises the backend, what changes configuration, and when it is too late.

Measured: a device client takes 75 % of the GPU's memory when it is made; `import jax`, dtype objects,
decorators, `ShapeDtypeStruct`, `eval_shape` and optimiser constructors make none.
"""

from __future__ import annotations

# jax.random/lax/numpy calls are found by prefix; these are the others that start the backend.
BACKEND_STARTERS: frozenset[str] = frozenset(
    {
        "jax.devices",
        "jax.device_count",
        "jax.local_devices",
        "jax.local_device_count",
        "jax.default_backend",
        "jax.process_index",
        "jax.process_count",
        "jax.live_arrays",
        "jax.device_put",
        "jax.make_mesh",
        "jax.make_array_from_callback",
        "flax.nnx.Rngs",
    }
)

# Names under jnp/lax/nn/random that touch no device.
BACKEND_FREE: frozenset[str] = frozenset(
    {
        "jax.numpy.vectorize",
        "jax.numpy.frompyfunc",
        "jax.numpy.ufunc",
        "jax.numpy.set_printoptions",
        "jax.numpy.get_printoptions",
        "jax.lax.Precision",
        "jax.lax.GatherDimensionNumbers",
        "jax.lax.ScatterDimensionNumbers",
        "jax.lax.ConvDimensionNumbers",
        "jax.lax.RandomAlgorithm",
        "jax.lax.GatherScatterMode",
        "jax.lax.dtype",
        "jax.lax.conv_dimension_numbers",
        "jax.random.key_impl",
        "jax.random.default_prng_impl",
    }
)

X64_OPTION = "jax_enable_x64"
CACHE_OPTIONS: frozenset[str] = frozenset({"jax_compilation_cache_dir"})
CACHE_CALLS: frozenset[str] = frozenset(
    {
        "jax.experimental.compilation_cache.compilation_cache.set_cache_dir",
        "jax.experimental.compilation_cache.compilation_cache.initialize_cache",
    }
)
CONFIG_CALLS: frozenset[str] = frozenset({"jax.config.update", "jax.config.config.update"})

# os.environ names that are read when the client is made. Those of jax.config's options (`jax_api.options`)
# are read when jax is imported, and never again.
CLIENT_TIME_VARIABLES = ("XLA_FLAGS", "XLA_PYTHON_CLIENT_")

# The environment's spelling of configuration options.
ENVIRONMENT_OPTIONS: dict[str, str] = {
    "JAX_ENABLE_X64": X64_OPTION,
    "JAX_COMPILATION_CACHE_DIR": "jax_compilation_cache_dir",
}
