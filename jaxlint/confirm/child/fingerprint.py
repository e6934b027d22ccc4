"""What an executable depends on, so that what is known of it need not be measured again."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import re
from typing import Any

from . import memory

_PACKAGES = ("jax", "jaxlib", "jax-cuda12-pjrt", "jax-cuda13-pjrt", "nvidia-cuda-nvcc-cu12", "libtpu")
_COPY = re.compile(r"/[^\"\s]*/jaxlint-\w{8}/")  # see `overlay.py`
_LARGEST_CONSTANT = 16  # elements that are written out: which numbers an array holds changes no plan


def run(trace: int, target: dict[str, Any], root: str) -> dict[str, str]:
    """A digest of the lowered module with its source lines below `root`, the target and the versions.

    "" where jax does not tell the module. Copies of a project that are made for a fix count as one.
    """
    lowered = memory.lowered_for(trace, target)
    try:
        module = getattr(lowered, "lowered", lowered).compiler_ir("stablehlo").operation
        text = module.get_asm(enable_debug_info=True, large_elements_limit=_LARGEST_CONSTANT)
    except Exception:  # private in part, and only to save time
        return {"digest": ""}
    about = [
        *(_COPY.sub("/", each) for each in (text, root)),
        json.dumps(target, sort_keys=True),
        *map(_version, _PACKAGES),
    ]
    return {"digest": hashlib.sha256("\0".join(about).encode()).hexdigest()}


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
