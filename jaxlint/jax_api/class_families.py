"""Classes of known libraries by the family that they make of a class: what its instances are to jax.

Equinox, Flax's `struct` and `register_pytree_node_class` make pytrees, Linen and Haiku modules that hold no arrays,
NNX objects that do. That the names exist is tested against the installed libraries.
"""

from __future__ import annotations

from jaxlint.jax_api.processes import PROCESS_CLASSES

# Base classes of known libraries → family of the class.
BASES = {
    "equinox.Module": "equinox",
    "equinox.nn.StatefulLayer": "equinox",
    "flax.nnx.Module": "nnx",
    "flax.nnx.Object": "nnx",
    "flax.nnx.Pytree": "nnx",
    "flax.linen.Module": "linen",
    "haiku.Module": "haiku",
    "flax.struct.PyTreeNode": "struct",
    "flax.training.train_state.TrainState": "struct",
    "typing.NamedTuple": "namedtuple",
    "enum.Enum": "enum",
    "enum.IntEnum": "enum",
    "enum.StrEnum": "enum",
    "enum.Flag": "enum",
    "penzai.core.struct.Struct": "pytree",
    "penzai.pz.nn.Layer": "pytree",
} | PROCESS_CLASSES
# Decorators of classes → family of the class.
DECORATORS = {
    "flax.struct.dataclass": "struct",
    "chex.dataclass": "struct",
    "jax_dataclasses.pytree_dataclass": "struct",
    "jax.tree_util.register_pytree_node_class": "pytree",
    "jax.tree_util.register_pytree_with_keys_class": "pytree",
    "jax.tree_util.register_dataclass": "pytree",
    "jax.tree_util.register_static": "pytree",
    "penzai.core.struct.pytree_dataclass": "pytree",
}
# Those that make a plain dataclass, which is no pytree.
DATACLASSES = frozenset(
    {"dataclasses.dataclass", "attrs.define", "attrs.frozen", "attr.s", "pydantic.dataclasses.dataclass"}
)


def family_of(dotted: str) -> str:
    """The family that a base class gives, by the table or as its own name tells; empty for none."""
    if dotted in BASES:
        return BASES[dotted]
    head, _, last = dotted.rpartition(".")
    if head.startswith("equinox") and last.endswith("Module"):
        return "equinox"
    if head.startswith(("distreqx", "diffrax", "optimistix", "lineax")):
        return "equinox"
    if head.startswith("flax.nnx"):
        return "nnx"
    if head.startswith("flax.linen"):
        return "linen"
    return ""
