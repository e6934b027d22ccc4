"""What lowers memory use and what it costs, what lives where, and the variables of the allocator: the tables that
stand beside the symptoms in `jaxlint explain symptoms`."""

from __future__ import annotations

from typing import NamedTuple


class Remedy(NamedTuple):
    """A way to use less device memory. `rules` find the places for it."""

    name: str
    saves: str
    costs: str
    rules: tuple[str, ...] = ()


REMEDIES = (
    Remedy("smaller batch", "memory falls linearly: the safest first step", "throughput"),
    Remedy(
        "bfloat16 or float16",
        "about half of the activations",
        "float16 may need loss scaling; never for ill-conditioned fits",
        ("JAX601",),
    ),
    Remedy(
        "jax.checkpoint (remat)",
        "most of what is kept for the backward pass; a policy keeps the dear operations",
        "about one more forward pass",
        ("JAX310",),
    ),
    Remedy(
        "gradient accumulation (optax.MultiSteps)",
        "a large batch at the memory of a small one",
        "more time per effective batch",
    ),
    Remedy(
        "donation (donate_argnums)",
        "a second copy of the state",
        "the old value is gone",
        ("JAX301", "JAX302"),
    ),
    Remedy(
        "a chunked map, or a running accumulator",
        "the fan-out: chunk instead of N",
        "throughput; the result is the same",
        ("JAX304", "JAX305"),
    ),
    Remedy(
        "jit + vmap",
        "jit fuses buffers on one device",
        "vmap makes all intermediates of the batch at once",
        ("JAX304",),
    ),
    Remedy(
        "pmap",
        "nothing: parameters are copied to every device",
        "fits where the model fits on one",
        ("JAX312",),
    ),
    Remedy(
        "sharding (NamedSharding, PartitionSpec)",
        "each device holds its part, by the partitioning's factor",
        "communication",
        ("JAX312",),
    ),
)


class Home(NamedTuple):
    """What lives in one of the two memories, and how its end looks."""

    question: str
    host: str
    device: str


HOMES = (
    Home(
        "holds",
        "Python objects, data loaders, what XLA compiles",
        "parameters, gradients, activations",
    ),
    Home(
        "out of memory",
        "the system slows down and swaps, the process is `Killed`",
        "RESOURCE_EXHAUSTED, a full GPU in nvidia-smi",
    ),
    Home("slow because of", "loading data, compiling too often", "memory bandwidth, arithmetic intensity"),
)


class Variable(NamedTuple):
    """An environment variable of JAX's GPU allocator, read when the GPU client is created."""

    name: str
    effect: str
    use: str


VARIABLES = (
    Variable(
        "XLA_PYTHON_CLIENT_PREALLOCATE",
        "`false`: no 75 % of the GPU on first use",
        "shared GPUs, several processes, and to see what is really in use",
    ),
    Variable(
        "XLA_PYTHON_CLIENT_MEM_FRACTION",
        "the fraction of the GPU that JAX may take",
        "to leave headroom for transients and for others: 0.65, say",
    ),
    Variable(
        "XLA_PYTHON_CLIENT_ALLOCATOR",
        "`platform`: allocate on demand, without a pool",
        "to debug; it is slow",
    ),
)
