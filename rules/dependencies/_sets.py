"""What one environment gets of a package, and which jax it is that runs on GPUs."""

from __future__ import annotations

import re

from jaxlint.dependencies.version import exact, local_label
from jaxlint.flow.facts import DependencySet, Requirement
from jaxlint.record import record, replace

_CUDA_EXTRA = r"cuda(\d+)?(-.*)?"
_PLUGIN = r"jax-cuda(\d+)-(plugin|pjrt)"
_LABEL = r"cuda(\d+)"


def asked(fact: DependencySet, name: str) -> Requirement | None:
    """The requirement of a package with what all its lines say together, at the line that says most.

    None where it is not asked for, or where different lines hold for different machines or Pythons.
    """
    lines = [requirement for requirement in fact.requirements if requirement.name == name]
    asking = [line for line in lines if not line.constraint]
    if not asking or (len(asking) > 1 and any(line.conditional for line in asking)):
        return None
    clauses = tuple(dict.fromkeys(clause for line in lines for clause in line.clauses))
    extras = frozenset(extra for line in asking for extra in line.extras)
    said = max(asking, key=lambda line: (bool(exact(line.clauses)), len(line.clauses), bool(line.extras)))
    return replace(
        said, clauses=clauses, extras=extras, source=" ".join(line.source for line in asking).strip()
    )


def limits(fact: DependencySet, prefix: str) -> list[Requirement]:
    """Every line about the packages whose names begin so, constraints included."""
    return [requirement for requirement in fact.requirements if requirement.name.startswith(prefix)]


@record
class Gpu:
    """A jax for NVIDIA's GPUs. `cuda` is its CUDA (12), None for an extra that leaves it open.

    `package` says what of the table tells its requirements: jax, or a plugin asked for by itself. `bundled`: it
    brings CUDA's libraries along.
    """

    requirement: Requirement
    package: str
    cuda: int | None
    bundled: bool


def gpu_jax(fact: DependencySet) -> Gpu | None:
    """The jax of an environment if it runs on GPUs."""
    jax = asked(fact, "jax")
    for extra in sorted(jax.extras) if jax is not None and not jax.conda else ():
        found = re.fullmatch(_CUDA_EXTRA, extra)
        if jax is not None and found is not None:
            bundled = "local" not in (found[2] or "")
            return Gpu(jax, "jax", int(found[1]) if found[1] else None, bundled)
    # A frozen set has the plugin and its part for the runtime (pjrt); the table knows the plugin.
    for requirement in sorted(fact.requirements, key=lambda r: not r.name.endswith("plugin")):
        plugin = re.fullmatch(_PLUGIN, requirement.name)
        if plugin is not None and not requirement.constraint:
            line = asked(fact, requirement.name)
            if line is not None and not line.conda:
                return Gpu(line, line.name, int(plugin[1]), "with-cuda" in line.extras or fact.locked)
    jaxlib = asked(fact, "jaxlib")
    label = re.match(_LABEL, local_label(exact(jaxlib.clauses))) if jaxlib is not None else None
    return Gpu(jaxlib, "jaxlib", int(label[1]), True) if jaxlib is not None and label is not None else None


def shown(requirement: Requirement) -> str:
    """A requirement as people write it: `jax[cuda12]==0.8.0`."""
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    clauses = ",".join(operator + version for operator, version in requirement.clauses)
    return f"{requirement.name}{extras}{clauses}"


def where(fact: DependencySet) -> str:
    """The environment in a sentence: "" or " with the extra `gpu`"."""
    return f" with {fact.environment}" if fact.environment else ""
