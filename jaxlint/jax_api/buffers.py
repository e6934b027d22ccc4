"""What writes into a numpy array that it is given, and what waits for the work that jax does with one."""

from __future__ import annotations

# Calls that may take a numpy array without a copy.
TRANSFERS = frozenset({"jax.device_put", "jax.numpy.asarray"})

# Functions whose first argument is written.
WRITING_FIRST = frozenset(
    {
        "numpy.copyto",
        "numpy.put",
        "numpy.place",
        "numpy.putmask",
        "numpy.put_along_axis",
        "numpy.fill_diagonal",
        "numpy.random.shuffle",
        "random.shuffle",
    }
)
# Methods that write their receiver. `resize` and `setflags` change what it is, not what it holds.
WRITING_METHODS = frozenset({"fill", "sort", "partition", "itemset", "put", "byteswap"})

# Calls that return only when the arrays they are given are there.
WAITING = frozenset(
    {
        "jax.block_until_ready",
        "jax.device_get",
        "numpy.asarray",
        "numpy.array",
        "builtins.float",
        "builtins.int",
        "builtins.bool",
        "builtins.print",
        "jax.effects_barrier",
    }
)
WAITING_METHODS = frozenset({"block_until_ready", "item", "tolist"})

# Types that jax holds in 32 bits unless it is told otherwise: the conversion is a copy (measured).
CONVERTED = frozenset(
    {"float64", "int64", "uint64", "complex128", "float", "int", "complex", "double", "d", "f8"}
)
# Where each maker takes its dtype; without one it makes 64-bit numbers.
MAKER_DTYPES: dict[str, int] = {
    "zeros": 1,
    "ones": 1,
    "empty": 1,
    "full": 2,
    "array": 1,
    "asarray": 1,
    "arange": 3,
    "linspace": 5,
    "eye": 3,
}
# Draws of numpy's generators, which are float64 or int64 unless a dtype is given.
DRAWS = frozenset(
    {"normal", "uniform", "standard_normal", "random", "rand", "randn", "randint", "integers", "permutation"}
)
