"""Compiling for an accelerator that is not there.

XLA compiles for a described chip: arguments are shapes placed on a device of a topology description, nothing is
allocated and nothing runs. The process itself stays on CPU (JAX_PLATFORMS=cpu).
"""

from __future__ import annotations

import functools
import json
import os
import traceback
from typing import Any


class Unavailable(Exception):
    """Why this cannot be compiled for the target, in words for the user."""


# What jax and XLA say, and what it means here.
_MEANINGS = (
    (
        "Received incompatible devices",
        "it places arrays on devices of this machine (a mesh of jax.devices(), device_put, a committed array)",
    ),
    ("cuDNN not found", "it needs cuDNN: pip install nvidia-cudnn-cu12"),
    ("No PTX compilation provider", "ptxas is missing: pip install nvidia-cuda-nvcc-cu12"),
    ("libdevice not found", "libdevice is missing: pip install nvidia-cuda-nvcc-cu12"),
    (
        "topology not implemented for cuda",
        "the CUDA plugin did not load: jax-cuda12-plugin and jax must match",
    ),
    ("RESOURCE_EXHAUSTED", "it does not fit on the chip"),
    ("libtpu", "libtpu did not load"),
)
_CALLBACK_MODULES = ("debugging.py", "callback.py")


def device(description: dict[str, Any]) -> Any:
    """The compile-only device of a target (`Target.description`), or None where jax's own device serves.

    Raises Unavailable.
    """
    return _device(json.dumps(description, sort_keys=True)) if "topology" in description else None


@functools.cache
def _device(description: str) -> Any:
    from jax.experimental import topologies

    described = json.loads(description)
    platform, topology, options = described["platform"], described["topology"], described["options"]
    try:
        if platform == "tpu":
            return topologies.get_topology_desc(topology, platform, **options).devices[0]
        return topologies.get_topology_desc(
            "", platform, topology=topology, target_config=described["config"], **options
        ).devices[0]
    except Exception as error:
        raise Unavailable(_meaning(error)) from error


def placed(tree: Any, device: Any) -> Any:
    """Arguments with every array, or shape of one, made a shape on the device. Other leaves stay as they are."""
    import jax
    from jax.sharding import SingleDeviceSharding

    if device is None:
        return tree
    sharding = SingleDeviceSharding(device)

    def place(leaf: Any) -> Any:
        if not is_array(leaf):
            return leaf
        weak = {"weak_type": True} if getattr(leaf, "weak_type", False) else {}
        shape: Any = jax.ShapeDtypeStruct
        return shape(leaf.shape, leaf.dtype, sharding=sharding, **weak)

    return jax.tree_util.tree_map(place, tree)


def is_array(leaf: Any) -> bool:
    """Whether a leaf is an array or the shape of one."""
    return hasattr(leaf, "shape") and hasattr(leaf, "dtype")


def lower(boundary: Any, args: tuple[Any, ...], kwargs: dict[str, Any], device: Any) -> Any:
    """Lower a jitted function for the device, None being jax's own. Raises Unavailable for what stands in the way.

    Errors of the program itself come through as they are.
    """
    import jax
    from jax.sharding import SingleDeviceSharding

    if device is None:
        return boundary.lower(*args, **kwargs)
    args, kwargs = placed((args, kwargs), device)
    try:
        if any(map(is_array, jax.tree_util.tree_leaves((args, kwargs)))):
            return boundary.lower(*args, **kwargs)
        # Nothing says where this is to run: jax would compile it for this machine without a word.
        on_device = SingleDeviceSharding(device)
        return jax.jit(lambda: boundary(*args, **kwargs), out_shardings=on_device).lower()
    except Exception as error:
        _raise_meaning(error)
        raise


def compile_lowered(lowered: Any, device: Any, options: dict[str, Any] | None = None) -> Any:
    """Compile what `lower` gave, with XLA options if any. Raises Unavailable where another device got it."""
    options = {**(options or {}), **_options(device)}
    try:
        compiled = lowered.compile(compiler_options=options) if options else lowered.compile()
    except Exception as error:
        if device is not None:
            _raise_meaning(error)
        raise
    if device is not None and device not in _devices(compiled):
        raise Unavailable("jax compiled it for another device than the target")
    return compiled


def _options(device: Any) -> dict[str, Any]:
    """What it takes for the plan to be possible on an absent GPU, and to be all there is on a CPU.

    Before 0.9.2 XLA looks for measured kernels, which there can be none of without the GPU, and fails. From 0.9 on
    fusions of the CPU's YNN library may allocate memory that no plan shows, so those are switched off.
    """
    import jax

    version = jax.__version_info__
    if device is None:
        own = version >= (0, 9) and jax.default_backend() == "cpu"
        return {"xla_cpu_experimental_ynn_fusion_type": ""} if own else {}
    return {"xla_gpu_autotune_level": 0} if version < (0, 9, 2) and device.platform == "gpu" else {}


def _devices(compiled: Any) -> set[Any]:
    import jax

    shardings = jax.tree_util.tree_leaves((compiled.input_shardings, compiled.output_shardings))
    return {device for sharding in shardings for device in sharding.device_set}


def _raise_meaning(error: Exception) -> None:
    """Raise Unavailable where it is the absence of the device that made a program fail."""
    message = str(error)
    if "Unknown backend" in message:
        if _through_callback(error):
            raise Unavailable(
                "it calls back into Python (jax.debug.print, pure_callback, io_callback), "
                "which cannot be lowered for a device that is not there"
            ) from error
        raise Unavailable(
            f"it asks for a device that this machine has not: {' '.join(message.split())}"
        ) from error
    if any(said in message for said, _ in _MEANINGS):
        raise Unavailable(_meaning(error)) from error


def _meaning(error: Exception) -> str:
    message = " ".join(str(error).split())
    for said, meaning in _MEANINGS:
        if said in message:
            return f"{meaning} ({message[:250]})"
    return f"{type(error).__name__}: {message[:300]}"


def _through_callback(error: Exception) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    cause = error.__cause__
    while cause is not None:
        frames += traceback.extract_tb(cause.__traceback__)
        cause = cause.__cause__
    return any(os.path.basename(frame.filename) in _CALLBACK_MODULES for frame in frames)
