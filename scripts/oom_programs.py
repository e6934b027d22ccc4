"""The four training programs that `record_oom_captures.py` lets run out of memory, or not. Needs jax alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

NAMES = ("attention", "kept_grads", "nodonate", "fits")


class Program(NamedTuple):
    """A jitted step(state, batch), functions of a key that make the state and a batch, what is kept each step."""

    step: Any
    init: Callable[[Any], Any]
    batch: Callable[[Any], Any]
    keeps_gradients: bool = False


def program(name: str, tiny: bool = False, layers: int = 4) -> Program:
    """One of NAMES. `tiny` makes it small enough for a CPU; `layers` counts for attention alone."""
    return attention(tiny, layers) if name == "attention" else _perceptron(name, tiny)


def attention(tiny: bool, layers: int) -> Program:
    """Hand-written attention: every layer keeps f32[batch, heads, sequence, sequence] for the backward pass."""
    batch, sequence, heads, width = (2, 64, 2, 32) if tiny else (8, 1024, 8, 512)

    def init(key: Any) -> Any:
        first, second = jax.random.split(key)
        return {
            "qkv": jax.random.normal(first, (layers, width, 3 * width)) * 0.02,
            "out": jax.random.normal(second, (layers, width, width)) * 0.02,
        }

    def block(x: Any, qkv: Any, out: Any) -> Any:
        parts = jnp.split(x @ qkv, 3, -1)
        q, k, v = (p.reshape(batch, sequence, heads, -1).transpose(0, 2, 1, 3) for p in parts)
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / (width // heads) ** 0.5
        mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), v)
        return x + mixed.transpose(0, 2, 1, 3).reshape(batch, sequence, width) @ out

    def loss(params: Any, x: Any) -> Any:
        for i in range(layers):
            x = block(x, params["qkv"][i], params["out"][i])
        return jnp.mean(x * x)

    def train_step(params: Any, x: Any) -> Any:
        value, gradient = jax.value_and_grad(loss)(params, x)
        return _descent(params, gradient), value

    step = jax.jit(train_step, donate_argnums=(0,))
    return Program(step, init, lambda key: jax.random.normal(key, (batch, sequence, width)))


def _perceptron(name: str, tiny: bool) -> Program:
    """A perceptron: all gradients are kept, or Adam's state is not donated, or all is well."""
    sizes = {"nodonate": (10, 4096, 64), "kept_grads": (26, 1024, 8192), "fits": (8, 1024, 1024)}
    layers, width, batch = (2, 64, 8) if tiny else sizes[name]

    def init(key: Any) -> Any:
        return [jax.random.normal(k, (width, width)) * 0.02 for k in jax.random.split(key, layers)]

    def loss(weights: Any, x: Any) -> Any:
        for w in weights:
            x = jnp.tanh(x @ w)
        return jnp.mean(x * x)

    def keeping_step(weights: Any, x: Any) -> Any:
        value, gradient = jax.value_and_grad(loss)(weights, x)
        return _descent(weights, gradient), value, gradient

    def adam_step(state: Any, x: Any) -> Any:
        weights, first, second = state
        value, gradient = jax.value_and_grad(loss)(weights, x)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
        second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradient)
        moved = jax.tree.map(lambda w, m, v: w - 1e-4 * m / (jnp.sqrt(v) + 1e-8), weights, first, second)
        return (moved, first, second), value

    def adam_init(key: Any) -> Any:
        weights = init(key)
        return weights, jax.tree.map(jnp.zeros_like, weights), jax.tree.map(jnp.zeros_like, weights)

    def make_batch(key: Any) -> Any:
        return jax.random.normal(key, (batch, width))

    if name == "kept_grads":
        return Program(jax.jit(keeping_step, donate_argnums=(0,)), init, make_batch, keeps_gradients=True)
    step = jax.jit(adam_step, donate_argnums=(0,) if name == "fits" else ())
    return Program(step, adam_init, make_batch)


def _descent(params: Any, gradient: Any) -> Any:
    return jax.tree.map(lambda p, g: p - 1e-3 * g, params, gradient)
