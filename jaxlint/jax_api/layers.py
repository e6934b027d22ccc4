"""Layers of libraries whose output is one array, and what gives arrays of a module's state: of equinox 0.13.8, flax
0.12.8 and dm-haiku 0.0.17, by their documentation. What may give a tuple (a cell, Equinox's `BatchNorm`) is not.
"""

from __future__ import annotations

_CONVOLUTIONS = frozenset(
    f"Conv{kind}{axes}"
    for kind in ("", "Transpose")
    for axes in ("", "Local", "1d", "2d", "3d", "1D", "2D", "3D")
)
_OTHERS = """
    Linear MLP Embedding Embed Dense DenseGeneral Einsum LinearGeneral LayerNorm RMSNorm GroupNorm InstanceNorm
    Dropout PReLU MultiheadAttention MultiHeadAttention MultiHeadDotProductAttention SelfAttention
"""
_LAYERS = _CONVOLUTIONS | frozenset(_OTHERS.split())
_LIBRARIES = ("equinox.nn.", "flax.linen.", "flax.nnx.", "haiku.")

# Haiku's functions that give an array in the function that is transformed.
HAIKU_ARRAYS = frozenset({"haiku.get_parameter", "haiku.next_rng_key", "haiku.dropout"})


def gives_array(layer: str) -> bool:
    """Whether calling such a layer gives one array, and no tuple or tree of them."""
    return layer.startswith(_LIBRARIES) and layer.rpartition(".")[2] in _LAYERS
