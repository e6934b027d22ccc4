"""JAX702: plain torch beside a jax for GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.dependencies import releases
from jaxlint.dependencies.version import exact
from jaxlint.finding import Confidence, Finding, Related
from jaxlint.flow.facts import DependencySet, Requirement
from jaxlint.rule import Rule

from . import _cudnn as cudnn
from . import _sets as sets

if TYPE_CHECKING:
    from jaxlint.context import Context


class TorchDefaultWheel(Rule):
    """torch from the default index brings CUDA libraries of its own into the environment of a jax for GPUs."""

    def suspect(self, fact: DependencySet) -> bool:
        return not fact.locked and any(r.name == "torch" for r in fact.requirements)

    def check(self, fact: DependencySet, ctx: Context) -> Iterator[Finding]:
        gpu, torch = sets.gpu_jax(fact), sets.asked(fact, "torch")
        if gpu is None or torch is None or torch.conda or cudnn.build_of_torch(fact, torch):
            return
        if not (_is_together(torch, gpu.requirement) or fact.by_default):
            return  # its user asks for it
        if cudnn.clash(fact, gpu, torch) is not None:
            return  # JAX701 says more
        yield self.finding(
            fact,
            f"`torch` from the default index brings CUDA libraries of its own{_newest(torch.clauses)} "
            f"beside those of `{sets.shown(gpu.requirement)}`. If it only feeds data, take its CPU build "
            "(https://download.pytorch.org/whl/cpu), else make it optional.",
            place=torch.place,
            confidence=Confidence.MEDIUM if torch.conditional else Confidence.HIGH,
            related=[Related(gpu.requirement.place, "the jax for GPUs")],
        )


def _is_together(torch: Requirement, jax: Requirement) -> bool:
    """torch is always there, or whoever asks for a group has jax by it, too. A jax that is always there does not
    make torch any less of a choice."""
    return torch.group in ("", jax.group)


def _newest(clauses: tuple[tuple[str, str], ...]) -> str:
    """What the newest allowed release brings."""
    for release in releases.allowed("torch", clauses)[:1]:
        brought = releases.cudnn_of_torch(release)
        if brought is not None:
            return f" (torch {release}: {brought.name} {exact(brought.clauses)})"
    return ""
