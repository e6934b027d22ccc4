"""Calls that read a checkpoint into a tree of the same structure: position and keywords of that tree."""

from __future__ import annotations

LOADERS: dict[str, tuple[int, tuple[str, ...]]] = {
    "equinox.tree_deserialise_leaves": (1, ("like",)),
    "flax.serialization.from_bytes": (0, ("target",)),
    "flax.serialization.from_state_dict": (0, ("target",)),
    "flax.training.checkpoints.restore_checkpoint": (1, ("target",)),
    "orbax.checkpoint.args.StandardRestore": (0, ("item",)),
    "orbax.checkpoint.args.PyTreeRestore": (0, ("item",)),
}

# `checkpointer.restore(path, item)`, the older way of Orbax and that of its standard checkpointer.
RESTORE_METHODS = frozenset({"restore"})
RESTORE_KEYWORDS = ("item", "target", "abstract_state", "items")

# What gives shapes without arrays.
ABSTRACT = frozenset(
    {
        "eval_shape",
        "filter_eval_shape",
        "abstract_init",
        "lazy_init",
        "to_shape_dtype_struct",
        "ShapeDtypeStruct",
        "get_abstract_state",
        "create_abstract_state",
    }
)
