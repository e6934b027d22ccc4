"""Which cuDNN a jax for GPUs needs, which one torch brings, and whether both can be had."""

from __future__ import annotations

import re
from typing import NamedTuple

from jaxlint.dependencies import releases
from jaxlint.dependencies.requirement import Parsed
from jaxlint.dependencies.version import allows, exact, local_label
from jaxlint.flow.facts import DependencySet, Requirement

from . import _sets as sets

_BUILD = r"(?<![a-z0-9])(cpu|cu\d{2,3}|rocm[\d.]*|xpu)(?![a-z0-9])"


def build_of_torch(fact: DependencySet, torch: Requirement) -> str:
    """ "cpu", "cu121", "rocm6.2" where a label, an index or an address says which build; "" for the default."""
    label = local_label(exact(torch.clauses))
    for text in (label, torch.source.lower(), *(index.lower() for index in fact.indexes)):
        found = re.search(_BUILD, text)
        if found is not None:
            return found[1]
    return "other" if torch.source else ""


def cuda_of(build: str) -> int | None:
    """The CUDA of a build: 12 for "cu121"."""
    return int(build[2:4]) if build.startswith("cu") and build != "cpu" else None


def cuda_of_package(name: str) -> int:
    """The CUDA that a cuDNN package is for: 12 for "nvidia-cudnn-cu12"."""
    return int(name.rpartition("cu")[2])


def needed(gpu: sets.Gpu) -> list[tuple[str, Parsed]]:
    """(release, the cuDNN it asks for) of each release that the requirement of a jax allows, newest first.

    What a local CUDA must offer is what the plugin of that release would bring itself.
    """
    requirement = gpu.requirement
    found: list[tuple[str, Parsed]] = []
    if gpu.package == "jax":
        extras = frozenset(re.sub(r"-local$", "", extra) for extra in requirement.extras)
        extras |= {f"{extra}-pip" for extra in extras if extra.startswith("cuda")}
        for release in releases.allowed("jax", requirement.clauses):
            line = releases.cudnn_of_jax(release, extras)
            if line is not None:
                found.append((release, line))
    elif gpu.package in releases.PLUGINS:
        for release in releases.allowed(gpu.package, requirement.clauses):
            line = releases.cudnn_of_plugin(gpu.package, release, ("with-cuda",))
            if line is not None:
                found.append((release, line))
    return found


class Clash(NamedTuple):
    """No allowed jax and torch can share a cuDNN: the newest of each, and what each asks for."""

    jax: str
    needs: Parsed
    torch: str
    brings: Parsed | None  # None where only its CUDA is known
    cuda: int


def clash(fact: DependencySet, gpu: sets.Gpu, torch: Requirement) -> Clash | None:
    """Whether every combination of allowed releases needs two cuDNN."""
    if not gpu.bundled or torch.conda:
        return None
    build = build_of_torch(fact, torch)
    of_jax = needed(gpu)
    if not of_jax:
        return None
    if build:
        cuda = cuda_of(build)
        if cuda is None or any(cuda_of_package(line.name) == cuda for _, line in of_jax):
            return None
        return Clash(*of_jax[0], exact(torch.clauses), None, cuda)
    candidates = releases.allowed("torch", torch.clauses)
    of_torch = [(r, brought) for r in candidates if (brought := releases.cudnn_of_torch(r)) is not None]
    if not of_torch or len(of_torch) < len(candidates):
        return None
    if not all(_excludes(need, brought) for _, need in of_jax for _, brought in of_torch):
        return None
    release, brings = of_torch[0]
    return Clash(*of_jax[0], release, brings, cuda_of_package(brings.name))


def _excludes(need: Parsed, brought: Parsed) -> bool:
    """Two packages, or a pin of the one outside what the other allows."""
    pin = exact(brought.clauses)
    return need.name != brought.name or (bool(pin) and not allows(need.clauses, pin))
