"""What this interpreter and this machine have of what the targets need. Imports nothing of it."""

from __future__ import annotations

import glob
import importlib.metadata
import os
import platform
import shutil
import sys
from typing import Any

_PACKAGES = (
    "jax",
    "jaxlib",
    "jax-cuda12-plugin",
    "jax-cuda12-pjrt",
    "jax-cuda13-plugin",
    "jax-cuda13-pjrt",
    "nvidia-cuda-nvcc-cu12",
    "nvidia-cuda-nvcc",
    "nvidia-nvvm",
    "nvidia-cudnn-cu12",
    "libtpu",
)


def run() -> dict[str, Any]:
    """Versions by package (None: not there), the CUDA toolkit of the machine ("": none), its GPUs."""
    return {
        "executable": sys.executable,
        "python": platform.python_version(),
        "system": sys.platform,
        "machine": platform.machine(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "toolkit": _toolkit(),
        "gpus": len(glob.glob("/dev/nvidia[0-9]*")),
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _toolkit() -> str:
    """The ptxas that XLA would take if no wheel brought one: on PATH, or where toolkits are installed."""
    found = shutil.which("ptxas")
    places = ["/usr/local/cuda/bin/ptxas", *sorted(glob.glob("/usr/local/cuda-*/bin/ptxas"))]
    return found or next((place for place in places if os.path.exists(place)), "")
