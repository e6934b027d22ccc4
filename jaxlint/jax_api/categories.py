"""From a canonical dotted name to what the analysis does with a call of it."""

from __future__ import annotations

from functools import cache

from jaxlint.jax_api.arrays import DTYPES, STATIC_JNP, TYPES
from jaxlint.jax_api.boundaries import BOUNDARIES, HAIKU_TRANSFORMS, TRACE_GUARDS, TRANSPARENT
from jaxlint.jax_api.loading import LOADERS
from jaxlint.jax_api.precision import CAST_POLICY, POLICY_CASTS, SECOND_ORDER
from jaxlint.jax_api.processes import PROCESSES
from jaxlint.jax_api.runtime import BACKEND_FREE, BACKEND_STARTERS, CACHE_CALLS, CONFIG_CALLS
from jaxlint.jax_api.transforms import CONTROL_FLOW, TRACERS, TRANSFORMS

_EXACT: dict[str, str] = {
    **dict.fromkeys(BOUNDARIES, "jit"),
    **dict.fromkeys(TRANSFORMS, "transform"),
    **dict.fromkeys(CONTROL_FLOW, "control"),
    **dict.fromkeys(TRACERS, "tracer"),
    **dict.fromkeys(TRACE_GUARDS, "trace_guard"),
    **dict.fromkeys(TRANSPARENT, "transparent"),
    **dict.fromkeys(HAIKU_TRANSFORMS, "haiku_transform"),
    **dict.fromkeys(CONFIG_CALLS, "config"),
    **dict.fromkeys(CACHE_CALLS, "cache_call"),
    **dict.fromkeys(BACKEND_FREE, "other"),
    **dict.fromkeys(BACKEND_STARTERS, "devices"),
    **dict.fromkeys(PROCESSES, "process"),
    **dict.fromkeys((name for name in SECOND_ORDER if not name.startswith("optax.")), "constructor"),
    CAST_POLICY: "cast_policy",
    **dict.fromkeys(POLICY_CASTS, "policy_cast"),
    "functools.partial": "partial",
    "flax.linen.scan": "lifted_scan",
    "flax.linen.transforms.scan": "lifted_scan",
    "jax.tree_util.register_pytree_node": "register_pytree",
    "jax.tree_util.register_pytree_node_class": "register_pytree",
    "jax.tree_util.register_pytree_with_keys": "register_pytree",
    "jax.tree_util.register_pytree_with_keys_class": "register_pytree",
    "jax.tree_util.register_dataclass": "register_pytree",
    "flax.training.train_state.TrainState.create": "state",
    "flax.nnx.split": "split_module",
    "flax.nnx.state": "filter",
    "flax.nnx.Optimizer": "state",
    "flax.nnx.ModelAndOptimizer": "state",
    "tqdm.tqdm": "progress",
    "tqdm.auto.tqdm": "progress",
    "tqdm.notebook.tqdm": "progress",
    "tqdm.trange": "progress_range",
    "tqdm.auto.trange": "progress_range",
    "tqdm.rich.tqdm": "progress",
    "rich.progress.track": "progress",
    "alive_progress.alive_it": "progress",
    "itertools.islice": "progress",
    "itertools.cycle": "progress",
    "itertools.count": "progress_range",
    "itertools.product": "product",
    "itertools.chain": "chain",
    "itertools.groupby": "groupby",
    "itertools.pairwise": "product",
    "itertools.zip_longest": "product",
    "functools.wraps": "wraps",
    "jax.tree_util.Partial": "value_partial",
    "equinox.Partial": "value_partial",
    "functools.lru_cache": "cache",
    "functools.cache": "cache",
    "functools.cached_property": "cached_property",
    "cachetools.cached": "other_cache",
    "cachetools.cachedmethod": "other_cache",
    "cachetools.func.lru_cache": "other_cache",
    "cachetools.func.ttl_cache": "other_cache",
    "methodtools.lru_cache": "other_cache",
    "toolz.memoize": "other_cache",
    "toolz.functoolz.memoize": "other_cache",
    "jax.tree.map": "treemap",
    "jax.tree_map": "treemap",
    "jax.tree_util.tree_map": "treemap",
    "jax.tree_util.tree_map_with_path": "treemap",
    "jax.tree.map_with_path": "treemap",
    "jax.device_put": "device_put",
    "jax.device_get": "device_get",
    "jax.block_until_ready": "identity",
    "jax.lax.stop_gradient": "identity",
    "jax.lax.with_sharding_constraint": "identity",
    **dict.fromkeys(LOADERS, "load"),
    "optax.apply_updates": "apply_updates",
    "equinox.apply_updates": "apply_updates",
    "equinox.tree_at": "tree_at",
    "equinox.partition": "partition",
    "equinox.filter": "filter",
    "equinox.combine": "combine",
    "functools.reduce": "reduce",
    "itertools.accumulate": "reduce",
    "dataclasses.replace": "replace",
    "dataclasses.field": "field",
    "equinox.field": "field",
    "flax.struct.field": "field",
    "dataclasses.dataclass": "dataclass",
    "jax.disable_jit": "context",
    "jax.lax.axis_size": "static",
    "jax.lax.broadcast_shapes": "static",
    "jax.ensure_compile_time_eval": "context",
    "jax.clear_caches": "clear_caches",
    "importlib.reload": "clear_caches",
    **dict.fromkeys(
        [
            f"{m}.patch{how}"
            for m in ("unittest.mock", "mock")
            for how in ("", ".object", ".dict", ".multiple")
        ],
        "patch",
    ),
    **dict.fromkeys(
        [
            f"{m}.{made}"
            for m in ("unittest.mock", "mock")
            for made in ("Mock", "MagicMock", "NonCallableMock", "NonCallableMagicMock", "AsyncMock")
        ],
        "mock",
    ),
    "chex.variants": "other",
    "os.environ.setdefault": "environ",
    "os.environ.update": "environ",
    "os.environ.__setitem__": "environ",
    "os.putenv": "environ",
    "flax.jax_utils.replicate": "replicate",
    "jax.device_put_replicated": "replicate",
    "torch.cuda.max_memory_allocated": "peak",
    "torch.cuda.max_memory_reserved": "peak",
    "torch.cuda.memory.max_memory_allocated": "peak",
    "re.findall": "words",
    "re.split": "words",
    "collections.deque": "container",
    "collections.defaultdict": "container",
    "collections.OrderedDict": "container",
    "collections.Counter": "container",
    "weakref.WeakKeyDictionary": "container",
    "weakref.WeakValueDictionary": "container",
    "jax.tree.leaves": "tree_leaves",
    "jax.tree.flatten": "tree_leaves",
    "jax.tree_util.tree_leaves": "tree_leaves",
    "jax.tree_util.tree_flatten": "tree_leaves",
    "jax.tree_leaves": "tree_leaves",
}
_DEVICE_PREFIXES = ("jax.random.", "jax.lax.", "jax.nn.", "jax.scipy.", "jax.image.", "jax.ops.")
# Their classes make objects worth following: layers, optimisers, states.
_LIBRARIES = ("equinox.nn.", "flax.linen.", "flax.nnx.", "haiku.", "optax.", "flax.training.")
INITIALIZERS = (
    "jax.nn.initializers.",
    "flax.linen.initializers.",
    "flax.nnx.initializers.",
    "haiku.initializers.",
)
# Optax's functions of arrays, by a word in their names or by the whole name.
_OPTAX_LOSSES = ("loss", "entropy", "divergence")
_OPTAX_ARRAYS = frozenset(
    {"cosine_distance", "cosine_similarity", "global_norm", "log_cosh", "ntxent", "safe_norm"}
    | {"smooth_labels", "squared_error"}
)


@cache
def category(dotted: str) -> tuple[str, str]:
    """(category, last name) of a canonical dotted name."""
    head, _, last = dotted.rpartition(".")
    return _EXACT.get(dotted) or _by_prefix(dotted, head, last), last


def _by_prefix(dotted: str, head: str, last: str) -> str:
    if head == "builtins":
        return "builtin"
    if head == "math" or head == "cmath":
        return "math"
    if dotted.startswith("jax.numpy."):
        return _jax_numpy(last)
    if dotted.startswith(INITIALIZERS):
        return "initializer"
    if dotted.startswith(_DEVICE_PREFIXES):
        return "lax" if last == "PRNGKey" or not last[:1].isupper() else "other"
    if head == "numpy" or head.startswith("numpy."):
        return "numpy_random" if head.startswith("numpy.random") else "numpy"
    if head == "random":
        return "random"
    if head == "time":
        return "clock"
    if head == "uuid" or head == "secrets":
        return "identifier"
    if dotted.startswith(_LIBRARIES) and last[:1].isupper():
        return "constructor"
    if head.startswith("optax.") and head.endswith("()") and last in ("init", "update"):
        return "optimizer_method"
    if head == "optax" or head == "optax.losses":
        is_loss = any(word in last for word in _OPTAX_LOSSES) and not last.startswith("make_")
        return "lax" if is_loss or last in _OPTAX_ARRAYS else "optimizer"
    return "other"


def _jax_numpy(last: str) -> str:
    if last in STATIC_JNP:
        return "static"
    if last in DTYPES:
        return "dtype"
    return "other" if last in TYPES else "jnp"


_MOVED = (
    ("jax._src.numpy.", "jax.numpy."),
    ("flax.experimental.nnx", "flax.nnx"),
    ("flax.nnx.transforms.", "flax.nnx."),
    ("equinox._jit.", "equinox."),
    ("equinox._filters.", "equinox."),
    ("jax.experimental.pjit.pjit", "jax.pjit"),
    ("jax._src.api.", "jax."),
    ("jax.api.", "jax."),
    ("jax.tree_multimap", "jax.tree.map"),
)


# What Flax hands on of `jax.nn` under its own names (flax 0.12).
_ACTIVATIONS = frozenset(
    {"celu", "elu", "gelu", "glu", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh", "leaky_relu"}
    | {"log_sigmoid", "log_softmax", "logsumexp", "one_hot", "relu", "relu6", "selu", "sigmoid", "silu"}
    | {"soft_sign", "softmax", "softplus", "standardize", "swish", "tanh"}
)


@cache
def canonical(dotted: str) -> str:
    """The public name of a moved or private one (`jax._src.numpy.…` → `jax.numpy.…`)."""
    head, _, last = dotted.rpartition(".")
    if last in _ACTIVATIONS and head in (
        "flax.linen",
        "flax.nnx",
        "flax.linen.activation",
        "flax.experimental.nnx",
    ):
        return f"jax.nn.{last}"
    for old, new in _MOVED:
        if dotted.startswith(old):
            return (
                new + dotted.rpartition(".")[2]
                if old.endswith(".") and "_src" in old
                else new + dotted[len(old) :]
            )
    return dotted
