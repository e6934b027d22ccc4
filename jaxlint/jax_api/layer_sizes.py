"""How many elements the parameters of a layer have, at most, by the sizes it is made with; and how many trees like
the parameters an optimiser keeps. By the sources of equinox 0.13.8, flax 0.12.8 (nnx) and optax 0.2.8; measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

Size: TypeAlias = "tuple[int, ...]"  # one number, or several for a shape


class Layer(NamedTuple):
    """The first parameters of a layer's constructor, all of them sizes, and what they make."""

    sizes: tuple[str, ...]
    count: Callable[..., int]


def _linear(inputs: Size, outputs: Size) -> int:
    return math.prod(inputs) * math.prod(outputs) + math.prod(outputs)


def _mlp(inputs: Size, outputs: Size, width: Size, depth: Size) -> int:
    if not depth[0]:
        return _linear(inputs, outputs)
    return _linear(inputs, width) + (depth[0] - 1) * _linear(width, width) + _linear(width, outputs)


def _convolution(axes: int) -> Callable[[Size, Size, Size], int]:
    def count(inputs: Size, outputs: Size, kernel: Size) -> int:
        of_kernel = math.prod(kernel) if len(kernel) > 1 else kernel[0] ** axes
        return _linear(inputs, outputs) * of_kernel

    return count


def _cell(gates: int) -> Callable[[Size, Size], int]:
    def count(inputs: Size, hidden: Size) -> int:
        return gates * (_linear(inputs, hidden) + _linear(hidden, hidden))

    return count


def _product(*sizes: Size) -> int:
    return math.prod(math.prod(size) for size in sizes)


def _scale_and_shift(shape: Size) -> int:
    return 2 * math.prod(shape)


def _filter(inputs: Size, outputs: Size, kernel: Size) -> int:
    """Of nnx, where one number is a kernel of one axis."""
    return _linear(inputs, outputs) * math.prod(kernel)


def _streams() -> int:
    """A key and a count for each stream of random numbers."""
    return 64


def _nothing() -> int:
    return 0


LAYERS: dict[str, Layer] = {
    "equinox.nn.Linear": Layer(("in_features", "out_features"), _linear),
    "equinox.nn.MLP": Layer(("in_size", "out_size", "width_size", "depth"), _mlp),
    "equinox.nn.Embedding": Layer(("num_embeddings", "embedding_size"), _product),
    "equinox.nn.LayerNorm": Layer(("shape",), _scale_and_shift),
    "equinox.nn.RMSNorm": Layer(("shape",), _scale_and_shift),
    "equinox.nn.GroupNorm": Layer(("groups", "channels"), lambda groups, channels: 2 * channels[0]),
    "equinox.nn.GRUCell": Layer(("input_size", "hidden_size"), _cell(3)),
    "equinox.nn.LSTMCell": Layer(("input_size", "hidden_size"), _cell(4)),
    "equinox.nn.MultiheadAttention": Layer(("num_heads", "query_size"), lambda _, size: 4 * _linear(size, size)),
    **{
        f"equinox.nn.Conv{kind}{axes}d": Layer(("in_channels", "out_channels", "kernel_size"), _convolution(axes))
        for kind in ("", "Transpose")
        for axes in (1, 2, 3)
    },
    **dict.fromkeys(
        [f"equinox.nn.{kind}Pool{axes}d" for kind in ("Avg", "Max", "AdaptiveAvg") for axes in (1, 2, 3)]
        + [f"equinox.nn.{name}" for name in ("Dropout", "Identity", "Lambda")],
        Layer((), _nothing),
    ),
    "flax.nnx.Linear": Layer(("in_features", "out_features"), _linear),
    "flax.nnx.Embed": Layer(("num_embeddings", "features"), _product),
    "flax.nnx.LayerNorm": Layer(("num_features",), _scale_and_shift),
    "flax.nnx.RMSNorm": Layer(("num_features",), _scale_and_shift),
    "flax.nnx.BatchNorm": Layer(("num_features",), lambda features: 4 * features[0]),
    "flax.nnx.GroupNorm": Layer(("num_features",), _scale_and_shift),
    **{
        f"flax.nnx.{kind}": Layer(("in_features", "out_features", "kernel_size"), _filter)
        for kind in ("Conv", "ConvTranspose")
    },
    "flax.nnx.GRUCell": Layer(("in_features", "hidden_features"), _cell(3)),
    "flax.nnx.LSTMCell": Layer(("in_features", "hidden_features"), _cell(4)),
    "flax.nnx.OptimizedLSTMCell": Layer(("in_features", "hidden_features"), _cell(4)),
    "flax.nnx.Rngs": Layer((), _streams),
    "flax.nnx.Dropout": Layer((), _streams),
}  # fmt: skip


class ContextLayer(NamedTuple):
    """A layer that learns from its input how wide that is: its sizes, and what it makes where all are so wide."""

    sizes: tuple[str, ...]
    made: Callable[[int, list[int]], int]


def _dense(wide: int, sizes: list[int]) -> int:
    return sum(wide * size + size for size in sizes)


def _table(wide: int, sizes: list[int]) -> int:
    return math.prod(sizes)


def _norm(wide: int, sizes: list[int]) -> int:
    return 4 * wide


def _none(wide: int, sizes: list[int]) -> int:
    return 0


CONTEXT_LAYERS: dict[str, ContextLayer] = {
    "flax.linen.Dense": ContextLayer(("features",), _dense),
    "haiku.Linear": ContextLayer(("output_size",), _dense),
    "haiku.nets.MLP": ContextLayer(("output_sizes",), _dense),
    "flax.linen.Embed": ContextLayer(("num_embeddings", "features"), _table),
    "haiku.Embed": ContextLayer(("vocab_size", "embed_dim"), _table),
    **dict.fromkeys(
        ("flax.linen.LayerNorm", "flax.linen.RMSNorm", "flax.linen.BatchNorm"), ContextLayer((), _norm)
    ),
    **dict.fromkeys(("haiku.LayerNorm", "haiku.RMSNorm"), ContextLayer((), _norm)),
    **dict.fromkeys(
        ("flax.linen.Dropout", "flax.linen.Sequential", "haiku.Sequential"), ContextLayer((), _none)
    ),
}
# What else they are told: nothing of it makes a parameter, or one wider than a float.
LAYER_OPTIONS = frozenset(
    {
        "use_bias",
        "with_bias",
        "name",
        "kernel_init",
        "bias_init",
        "w_init",
        "b_init",
        "dtype",
        "rate",
        "deterministic",
    }
    | {
        "epsilon",
        "eps",
        "use_running_average",
        "momentum",
        "create_scale",
        "create_offset",
        "axis",
        "activation",
    }
    | {"activate_final", "deterministic", "use_scale", "layers", "embedding_init", "scale_init"}
)

# The trees of the parameters' size in an optimiser's state; `sgd` has one if there is a momentum.
OPTIMIZER_TREES: dict[str, int] = {
    **dict.fromkeys(("scale", "scale_by_learning_rate", "scale_by_schedule", "identity", "add_decayed_weights"), 0),
    **dict.fromkeys(("clip", "clip_by_global_norm", "clip_by_block_rms", "adaptive_grad_clip", "centralize"), 0),
    **dict.fromkeys(("keep_params_nonnegative", "scale_by_trust_ratio", "sign_sgd", "fromage"), 0),
    **dict.fromkeys(("lion", "adagrad", "lars", "scale_by_lion", "trace", "ema", "optimistic_gradient_descent"), 1),
    **dict.fromkeys(("adam", "adamw", "adamax", "adamaxw", "nadam", "nadamw", "radam", "lamb", "adabelief"), 2),
    **dict.fromkeys(("adadelta", "yogi", "rprop", "scale_by_adam", "scale_by_belief"), 2),
    **dict.fromkeys(("rmsprop", "amsgrad"), 3),
}  # fmt: skip
