"""Whether an interpreter can compile for a target, and if not, what to install."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint.confirm.chips import CUDA, TPU
from jaxlint.confirm.interpreter import OLDEST, release
from jaxlint.confirm.targets import GPU, Target
from jaxlint.record import record

# From which jax on an absent chip can be compiled for; each was tried. In 0.8 no CUDA topology can be made.
_OLDEST = {CUDA: (0, 6, 2), TPU: (0, 5, 3)}
_CUDA_NEVER = (0, 8)


@record
class Availability:
    """`reason` says what serves, or what is missing; `install` is the command that helps, "" if none does."""

    ready: bool
    reason: str
    install: str = ""


def availability(target: Target, installed: Mapping[str, Any]) -> Availability:
    """Whether a target can be used with what `child/installed.py` found in an interpreter."""
    jax = installed["packages"]["jax"]
    if jax is None:
        return _missing("jax", installed, [_jax_for(target.kind, None)])
    oldest = _OLDEST.get(target.kind, OLDEST)
    if release(jax) < oldest:
        needed = _dotted(oldest)
        return Availability(False, f"jax {jax} is too old: {needed} or newer can do it")
    if target.kind == CUDA:
        return _absent_gpu(jax, installed)
    if target.kind == TPU:
        return _absent_tpu(jax, installed)
    if target.kind == GPU:
        return _gpu_here(jax, installed)
    return Availability(True, f"jax {jax}")


def _absent_gpu(jax: str, installed: Mapping[str, Any]) -> Availability:
    if installed["system"] != "linux":
        return Availability(False, "the CUDA compiler of jax is there for Linux only")
    if release(jax)[:2] == _CUDA_NEVER:
        return Availability(False, f"jax {jax} cannot compile for a GPU that is not there: 0.9.2 can")
    packages = installed["packages"]
    generation = "13" if packages["jax-cuda13-plugin"] else "12"
    plugin, client = (packages[f"jax-cuda{generation}-{part}"] for part in ("plugin", "pjrt"))
    compiler = ["nvidia-cuda-nvcc-cu12"] if generation == "12" else ["nvidia-cuda-nvcc", "nvidia-nvvm"]
    missing = [name for name in compiler if packages[name] is None]
    if not plugin or not client or not release(plugin) == release(client) == release(jax):
        there = f" (there is {plugin}, its client {client})" if plugin else ""
        wanted = [f"jax[cuda{generation}-local]=={jax}", *missing]
        return _missing(f"the CUDA compiler of jax {jax}{there}", installed, wanted)
    if missing and not installed["toolkit"]:
        return _missing(" and ".join(missing), installed, missing)
    ptxas = f"{installed['toolkit']} of this machine" if missing else f"{compiler[0]} {packages[compiler[0]]}"
    return Availability(True, f"jax-cuda{generation}-plugin {plugin}, {ptxas}")


def _absent_tpu(jax: str, installed: Mapping[str, Any]) -> Availability:
    if installed["system"] != "linux" or installed["machine"] not in ("x86_64", "AMD64"):
        return Availability(False, "libtpu is there for Linux on x86-64 only")
    libtpu = installed["packages"]["libtpu"]
    if libtpu is None:
        return _missing("libtpu", installed, [_jax_for(TPU, jax)])
    return Availability(True, f"libtpu {libtpu}")


def _gpu_here(jax: str, installed: Mapping[str, Any]) -> Availability:
    if not installed["gpus"]:
        return Availability(False, "this machine has no NVIDIA GPU")
    packages = installed["packages"]
    plugin = packages["jax-cuda12-plugin"] or packages["jax-cuda13-plugin"]
    if plugin is None:
        return _missing("jax's CUDA plugin", installed, [_jax_for(GPU, jax)])
    return Availability(True, f"{installed['gpus']} GPU(s), jax's CUDA plugin {plugin}")


def _jax_for(kind: str, version: str | None) -> str:
    extra = {CUDA: "[cuda12-local]", TPU: "[tpu]", GPU: "[cuda12]"}.get(kind, "")
    return f"jax{extra}" + (f"=={version}" if version else "")


def _missing(what: str, installed: Mapping[str, Any], packages: Sequence[str]) -> Availability:
    """`what` is the name of what is not there."""
    return Availability(
        False,
        f"{what} is not installed",
        shlex.join([installed["executable"], "-m", "pip", "install", *packages]),
    )


def _dotted(version: Sequence[int]) -> str:
    return ".".join(map(str, version))
