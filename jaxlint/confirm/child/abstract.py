"""Values without their arrays: expressions are evaluated under `jax.eval_shape`, so that nothing is allocated."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def abstractly(make: Callable[[], Any]) -> Any:
    """What `make` returns, with a jax.ShapeDtypeStruct for each array. Other leaves are as they are.

    A module of flax.nnx, which is a graph and no tree, is taken apart and put together again.
    """
    import jax

    kept: dict[str, Any] = {}

    def arrays() -> list[Any]:
        value = _split(make())
        leaves, kept["tree"] = jax.tree_util.tree_flatten(value, is_leaf=lambda leaf: leaf is None)
        kept["leaves"] = [None if _is_array(leaf) else (leaf,) for leaf in leaves]
        return [leaf for leaf in leaves if _is_array(leaf)]

    shapes = iter(jax.eval_shape(arrays))
    leaves = [next(shapes) if other is None else other[0] for other in kept["leaves"]]
    return _merge(jax.tree_util.tree_unflatten(kept["tree"], leaves))


def shape_of(value: Any) -> Any:
    """A value that exists already, with shapes for its arrays."""
    import jax

    def shape(leaf: Any) -> Any:
        if not _is_array(leaf):
            return leaf
        struct: Any = jax.ShapeDtypeStruct
        weak = {"weak_type": True} if getattr(leaf, "weak_type", False) else {}
        return struct(leaf.shape, leaf.dtype, **weak)

    return jax.tree_util.tree_map(shape, value)


def _is_array(leaf: Any) -> bool:
    import jax
    import numpy

    return isinstance(leaf, (jax.Array, numpy.ndarray, numpy.generic, jax.ShapeDtypeStruct))


class _Graph:
    """A module of flax.nnx, taken apart: a leaf that is no array would hold tracers."""

    def __init__(self, definition: Any, state: Any) -> None:
        self.definition = definition
        self.state = state


def _split(value: Any) -> Any:
    nnx = sys.modules.get("flax.nnx")
    if nnx is None:
        return value
    _register()

    def split(leaf: Any) -> Any:
        return _Graph(*nnx.split(leaf)) if isinstance(leaf, nnx.Module) else leaf

    import jax

    return jax.tree_util.tree_map(split, value, is_leaf=lambda leaf: isinstance(leaf, nnx.Module))


def _merge(value: Any) -> Any:
    nnx = sys.modules.get("flax.nnx")
    if nnx is None:
        return value
    import jax

    def merge(leaf: Any) -> Any:
        return nnx.merge(leaf.definition, leaf.state) if isinstance(leaf, _Graph) else leaf

    return jax.tree_util.tree_map(merge, value, is_leaf=lambda leaf: isinstance(leaf, _Graph))


_registered: list[bool] = []


def _register() -> None:
    import jax

    if not _registered:
        _registered.append(True)
        jax.tree_util.register_pytree_node(
            _Graph, lambda graph: ((graph.state,), graph.definition), lambda aux, parts: _Graph(aux, *parts)
        )
