"""Who the user's interpreter is, and jax in it. The server runs this once: its rooms then start with jax."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from typing import Any


def run(preload: bool, path: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """Versions of Python, jax, jaxlib and friends, None for those that are not there.

    `preload` imports jax, which starts no backend; `path` is put in front of sys.path; `environment` is set first.
    """
    os.environ.update(environment)
    sys.path[:0] = path
    names = ("jax", "jaxlib", "equinox", "flax", "optax", "numpy")
    versions = {name: _version(name) for name in names}
    error = None
    if preload and versions["jax"]:
        try:
            import jax  # noqa: F401  # whether it can be imported
        except Exception as problem:
            error = f"{type(problem).__name__}: {problem}"
    return {"python": platform.python_version(), "executable": sys.executable, **versions, "error": error}


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
