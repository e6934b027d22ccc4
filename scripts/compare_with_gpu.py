#!/usr/bin/env python3
"""Does XLA plan the same memory for a GPU that is described as for the one that is there?

    python scripts/compare_with_gpu.py                compile for the GPU here, and for its own description
    python scripts/compare_with_gpu.py --without-gpu  compile for a chip of ours, and for what XLA makes of it

A line for each program: argument, output, alias and temp bytes of both. Exits with 1 where they differ by more than
the noise of kernels that can only be chosen by timing them (64 MiB); smaller differences are shown.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jax
import jax.numpy as jnp

from jaxlint.confirm.child import deviceless, target_config
from jaxlint.confirm.targets import resolve

NOISE = 64 << 20
FIELDS = ("argument", "output", "alias", "temp")
CHIP = "cuda:a6000"

F32, BF16 = jnp.float32, jnp.bfloat16
Shape: Any = jax.ShapeDtypeStruct
Program = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


def _stacked(x: Any) -> Any:
    for _ in range(5):
        _, ys = jax.lax.scan(lambda c, _: (1 + jnp.cos(c**2),) * 2, x, None, 100)
        x = ys[-1]
    return x


def _wide(keys: Any, image: Any) -> Any:
    return jax.vmap(lambda key: jnp.fft.fft2(image + jax.random.normal(key, image.shape)).real)(keys).std(0)


def _blocks(weights: Any, x: Any, checkpoint: bool) -> Any:
    def body(h: Any, w: Any) -> Any:
        return jnp.tanh(h @ w) @ w.T, None

    def loss(weights: Any) -> Any:
        h, _ = jax.lax.scan(jax.checkpoint(body) if checkpoint else body, x, weights)
        return (h * h).mean()

    return jax.grad(loss)(weights)


def _momentum(state: Any, x: Any) -> Any:
    weights, velocity = state
    gradient = jax.grad(lambda w: (jnp.tanh(x @ w) ** 2).mean())(weights)
    velocity = 0.9 * velocity + gradient
    return weights - 0.1 * velocity, velocity


def _attention(q: Any) -> Any:
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, q)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), q)


def _convolved(image: Any, kernel: Any) -> Any:
    return jax.lax.conv_general_dilated(image, kernel, (1, 1), "SAME").sum()


def programs() -> dict[str, Program]:
    """Programs by name: a function, shapes of its arguments, options of jit."""
    square, weights = Shape((4096, 4096), F32), Shape((24, 1024, 1024), F32)
    keys: Any = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), 64))
    return {
        "scan that stacks": (_stacked, (Shape((200, 200, 200), F32),), {}),
        "wide vmap": (_wide, (keys, Shape((512, 512), F32)), {}),
        "scan of blocks": (lambda w, x: _blocks(w, x, False), (weights, Shape((4096, 1024), F32)), {}),
        "the same, remat": (lambda w, x: _blocks(w, x, True), (weights, Shape((4096, 1024), F32)), {}),
        "momentum": (_momentum, ((square, square), Shape((512, 4096), F32)), {}),
        "momentum, donated": (
            _momentum,
            ((square, square), Shape((512, 4096), F32)),
            {"donate_argnums": (0,)},
        ),
        "attention": (_attention, (Shape((4, 8, 2048, 64), BF16),), {}),
        "sort": (jnp.sort, (Shape((1 << 24,), F32),), {}),
        "convolution": (
            jax.grad(_convolved),
            (Shape((8, 32, 256, 256), F32), Shape((32, 32, 3, 3), F32)),
            {},
        ),
    }


def measured(program: Program, device: Any) -> tuple[int, ...]:
    """Argument, output, alias and temp bytes of a program compiled for a device, None being jax's own."""
    function, args, options = program
    lowered = deviceless.lower(jax.jit(function, **options), args, {}, device)
    analysis = deviceless.compile_lowered(lowered, device).memory_analysis()
    return tuple(int(getattr(analysis, f"{field}_size_in_bytes")) for field in FIELDS)


def main() -> int:
    """Print the table. 1 where a difference is larger than noise."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--without-gpu", action="store_true")
    args = parser.parse_args()
    description = resolve(CHIP).description
    first = deviceless.device(description) if args.without_gpu else None
    described = target_config.of([first]) if first is not None else target_config.run()
    second = deviceless.device({**description, "config": described})
    print(f"{CHIP if first is not None else jax.devices()[0].device_kind}: {', '.join(FIELDS)} in bytes")
    worst, equal = 0, 0
    for name, program in programs().items():
        there, told = measured(program, first), measured(program, second)
        difference = max(abs(a - b) for a, b in zip(there, told, strict=True))
        worst, equal = max(worst, difference), equal + (difference == 0)
        print(f"{name}: {there} {'equal' if difference == 0 else f'described: {told}'}", flush=True)
    print(f"{equal} of {len(programs())} equal to the byte, largest difference {worst} bytes")
    return 0 if worst <= NOISE else 1


if __name__ == "__main__":
    sys.exit(main())
