"""The accelerators that `--target` knows, from `chips.json`, and the text by which XLA is told of a GPU."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jaxlint.record import record

CUDA, TPU = "cuda", "tpu"

_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chips.json")

# The same on every chip listed (CUDA C++ Programming Guide, technical specifications per compute capability).
_EVERY_GPU = {
    "threads_per_block_limit": 1024,
    "threads_per_warp": 32,
    "shared_memory_per_block": 49152,
    "block_dim_limit_x": 2147483647,
    "block_dim_limit_y": 65535,
    "block_dim_limit_z": 65535,
    "registers_per_core_limit": 65536,
    "registers_per_block_limit": 65536,
}
_ONE_GPU = "1x1x1"  # partitions, hosts in each, GPUs in each
_OF_A_CHIP = (
    "core_count",
    "memory_bandwidth",
    "l2_cache_size",
    "clock_rate_ghz",
    "device_memory_size",
)


@record
class Chip:
    """An accelerator. `memory` is what one jax device of it can hold, in bytes; `source` says who says so.

    `topology` is the name XLA is asked for, `options` go with it. `config` is a GpuTargetConfigProto in text form,
    "" for a TPU, whose compiler knows its own chips.
    """

    kind: str
    key: str
    name: str
    memory: int
    source: str
    topology: str
    options: Mapping[str, str]
    config: str


@lru_cache(maxsize=1)
def chips() -> Mapping[str, Mapping[str, Chip]]:
    """All chips: by kind ("cuda", "tpu"), then by key ("a6000", "v5e")."""
    with open(_FILE, encoding="utf-8") as file:
        data = json.load(file)
    return {
        CUDA: {key: _gpu(key, facts, data["capabilities"]) for key, facts in data[CUDA].items()},
        TPU: {key: _tpu(key, facts) for key, facts in data[TPU].items()},
    }


def from_config(key: str, config: str) -> Chip:
    """A GPU as `jaxlint targets --dump` wrote it down. Raises ValueError for text that is something else."""
    memory = re.search(r"\bdevice_memory_size: (\d+)", config)
    if memory is None:
        raise ValueError("this is no target_config of a GPU: it has no device_memory_size")
    name = re.search(r'\bdevice_description_str: "([^"]*)"', config)
    return Chip(CUDA, key, name[1] if name else key, int(memory[1]), key, _ONE_GPU, {}, config)


def _gpu(key: str, facts: Mapping[str, Any], capabilities: Mapping[str, Any]) -> Chip:
    return Chip(
        CUDA,
        key,
        facts["name"],
        facts["device_memory_size"],
        facts["source"],
        topology=_ONE_GPU,
        options={},
        config=_target_config(facts, capabilities[facts["capability"]]),
    )


def _tpu(key: str, facts: Mapping[str, Any]) -> Chip:
    return Chip(
        TPU,
        key,
        facts["name"],
        facts["device_memory_size"],
        facts["source"],
        topology=facts["topology"],
        options=facts["options"],
        config="",
    )


def _target_config(facts: Mapping[str, Any], capability: Mapping[str, Any]) -> str:
    """The chip as a GpuTargetConfigProto (xla/stream_executor/device_description.proto) in text form.

    The versions of cuDNN and of the CUDA runtime are those that jax 0.10 is built for. They decide which kernels
    may be chosen, not how large a buffer is.
    """
    major, minor = facts["capability"].split(".")
    device = {**_EVERY_GPU, **capability, **{name: facts[name] for name in _OF_A_CHIP}}
    lines = "\n".join(f"  {name}: {value}" for name, value in device.items())
    return (
        f"gpu_device_info {{\n{lines}\n  cuda_compute_capability {{ major: {major} minor: {minor} }}\n}}\n"
        'platform_name: "CUDA"\n'
        "dnn_version_info { major: 9 minor: 8 patch: 0 }\n"
        "runtime_version { major: 12 minor: 9 patch: 0 }\n"
        f'device_description_str: "{facts["name"]}"\n'
    )
