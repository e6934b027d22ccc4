"""Who the user's interpreter is, and jax in it. The server runs this once: its rooms then start with jax."""

from __future__ import annotations

import contextlib
import glob
import importlib.metadata
import importlib.util
import mmap
import os
import platform
import sys
from typing import Any

_FLAG = "xla_cpu_experimental_ynn_fusion_type"


def run(preload: bool, path: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """Versions of Python, jax, jaxlib and friends, None for those that are not there.

    `preload` imports jax, which starts no backend; `path` is put in front of sys.path; `environment` is set first.
    """
    os.environ.update(environment)
    _count_all_scratch()
    sys.path[:0] = path
    names = ("jax", "jaxlib", "equinox", "flax", "optax", "numpy")
    versions = {name: _version(name) for name in names}
    error = None
    if preload and versions["jax"]:
        try:
            import jax  # noqa: F401
        except Exception as problem:
            error = f"{type(problem).__name__}: {problem}"
    return {"python": platform.python_version(), "executable": sys.executable, **versions, "error": error}


def _count_all_scratch() -> None:
    """Have XLA's CPU compiler leave out fusions whose scratch memory it does not count.

    From jax 0.10 `memory_analysis()` may say 0 while such a fusion takes hundreds of megabytes (measured). Versions
    that do not know the flag abort on it, so it is set only where jaxlib's library names it.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if _FLAG not in flags and _is_known(_FLAG.encode()):
        os.environ["XLA_FLAGS"] = f"{flags} --{_FLAG}=".strip()


def _is_known(flag: bytes) -> bool:
    spec = importlib.util.find_spec("jaxlib")
    for directory in spec.submodule_search_locations or () if spec is not None else ():
        for path in sorted(glob.glob(os.path.join(directory, "*.so")), key=os.path.getsize, reverse=True)[:2]:
            with (
                contextlib.suppress(OSError, ValueError),
                open(path, "rb") as file,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
            ):
                if data.find(flag) != -1:
                    return True
    return False


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
