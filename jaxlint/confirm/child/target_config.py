"""What XLA knows of a GPU, as the text that describes it to a machine without one."""

from __future__ import annotations

from typing import Any

from .deviceless import Unavailable


def run() -> str:
    """The GpuTargetConfigProto, in text form, of the first GPU here. Raises Unavailable without one."""
    import jax

    try:
        devices = jax.devices("gpu")
    except RuntimeError as error:
        raise Unavailable(f"jax finds no GPU here: {' '.join(str(error).split())}") from error
    return of(devices[:1])


def of(devices: list[Any]) -> str:
    """The same for given devices, which may be compile-only ones."""
    import jaxlib.xla_client

    config = getattr(jaxlib.xla_client.get_topology_for_devices(devices), "target_config", None)
    if not isinstance(config, str):
        raise Unavailable("this jax does not describe its GPUs")
    return config
