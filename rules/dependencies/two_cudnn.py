"""JAX701: one environment needs two cuDNN."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.dependencies.releases import CUDNN
from jaxlint.dependencies.version import exact
from jaxlint.finding import Finding, Related
from jaxlint.flow.facts import DependencySet, Requirement
from jaxlint.rule import Rule

from . import _cudnn as cudnn
from . import _sets as sets

if TYPE_CHECKING:
    from jaxlint.context import Context

_REMEDY = (
    "Take torch's CPU build (https://download.pytorch.org/whl/cpu) if it only feeds data, else both for one "
    "CUDA."
)


class TwoCudnn(Rule):
    """Both of two CUDA generations' cuDNN are locked, or jax and torch ask for two that exclude each other."""

    def suspect(self, fact: DependencySet) -> bool:
        return any(r.name.startswith(("jax", CUDNN)) for r in fact.requirements)

    def check(self, fact: DependencySet, ctx: Context) -> Iterator[Finding]:
        packages = {
            line.name: line for line in sets.limits(fact, CUDNN) if fact.locked or not line.constraint
        }
        if len(packages) > 1:
            yield self._both(fact, [packages[name] for name in sorted(packages)])
            return
        gpu = None if fact.locked else sets.gpu_jax(fact)
        if gpu is None:
            return
        for line in packages.values():
            if gpu.cuda is not None and cudnn.cuda_of_package(line.name) != gpu.cuda and gpu.bundled:
                yield self._other(fact, gpu, line)
        torch = sets.asked(fact, "torch")
        clash = cudnn.clash(fact, gpu, torch) if torch is not None else None
        if torch is not None and clash is not None:
            yield self._torch(fact, gpu, torch, clash)

    def _both(self, fact: DependencySet, lines: list[Requirement]) -> Finding:
        shown = " and ".join(f"`{line.name}` {exact(line.clauses)}".strip() for line in lines)
        users = [r for r in fact.requirements if r.name == "torch" or r.name.startswith("jax-cuda")]
        return self.finding(
            fact,
            f"One environment{sets.where(fact)} gets {shown}. Both are unpacked into `nvidia/cudnn`: jax and torch "
            f"load whichever came last. {_REMEDY}",
            place=lines[-1].place,
            related=[
                *(Related(line.place, "the other cuDNN") for line in lines[:-1]),
                *(Related(user.place, f"`{user.name}` brings one of them") for user in users),
            ],
        )

    def _other(self, fact: DependencySet, gpu: sets.Gpu, line: Requirement) -> Finding:
        return self.finding(
            fact,
            f"`{sets.shown(gpu.requirement)}` brings `{CUDNN}{gpu.cuda}`, and this line `{line.name}`. Both are "
            f"unpacked into `nvidia/cudnn`, and the last one stays. Ask for `{CUDNN}{gpu.cuda}`.",
            place=line.place,
            related=[Related(gpu.requirement.place, "the jax that brings the other")],
        )

    def _torch(self, fact: DependencySet, gpu: sets.Gpu, torch: Requirement, clash: cudnn.Clash) -> Finding:
        needs = f"jax {clash.jax} needs `{clash.needs.name}` {_clauses(clash.needs.clauses)}"
        brings = (
            f"`{clash.brings.name}` {exact(clash.brings.clauses)}"
            if clash.brings is not None
            else f"a cuDNN for CUDA {clash.cuda}"
        )
        if clash.brings is not None and clash.brings.name == clash.needs.name:
            happens = (
                f"torch {clash.torch} pins {brings}, {needs}: an installer finds no solution, and where two of "
                "them put both in one place, jax fails at its first use of cuDNN"
            )
        else:
            happens = (
                f"torch {clash.torch} brings {brings}, {needs}. One environment{sets.where(fact)} gets both, "
                "unpacked into the same `nvidia/cudnn`: one of the two loads the wrong library"
            )
        return self.finding(
            fact,
            f"{happens}. {_REMEDY}",
            place=torch.place,
            related=[Related(gpu.requirement.place, f"`{sets.shown(gpu.requirement)}`")],
        )


def _clauses(clauses: tuple[tuple[str, str], ...]) -> str:
    return ",".join(operator + version for operator, version in sorted(clauses, reverse=True))
