"""JAX703: a cuDNN older than the one jax was built for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.dependencies.releases import CUDNN
from jaxlint.dependencies.version import all_below, exact, lower_bound
from jaxlint.finding import Confidence, Finding, Related, Severity
from jaxlint.flow.facts import DependencySet, Requirement
from jaxlint.rule import Rule

from . import _cudnn as cudnn
from . import _sets as sets

if TYPE_CHECKING:
    from jaxlint.context import Context


class CudnnFloor(Rule):
    """cuDNN is held below what the jax of the environment needs, or nothing holds it above."""

    def suspect(self, fact: DependencySet) -> bool:
        return any("jax" in r.name for r in fact.requirements)

    def check(self, fact: DependencySet, ctx: Context) -> Iterator[Finding]:
        gpu = sets.gpu_jax(fact)
        needs = cudnn.needed(gpu) if gpu is not None else []
        if gpu is None or not needs:
            return
        floors = [(release, lower_bound(line.clauses)) for release, line in needs]
        package = needs[0][1].name
        lines = [line for line in sets.limits(fact, CUDNN) if line.name == package]
        for line in lines:
            if line.clauses and all(floor and all_below(line.clauses, floor) for _, floor in floors):
                yield self._below(fact, gpu, line, *floors[-1])
                return
        if not gpu.bundled and floors[0][1] and not any(lower_bound(line.clauses) for line in lines):
            yield self._unbounded(fact, gpu, package, *floors[0])

    def _below(
        self, fact: DependencySet, gpu: sets.Gpu, line: Requirement, release: str, floor: str
    ) -> Finding:
        held = exact(line.clauses) or ",".join(operator + version for operator, version in line.clauses)
        return self.finding(
            fact,
            f"`{line.name}` is held at {held}, and jax {release} was built for {floor} or newer: an "
            "installer finds no solution, or jax fails at its first use of cuDNN. Ask for "
            f"`{line.name}>={floor}`, or leave it to jax.",
            place=line.place,
            related=[Related(gpu.requirement.place, f"`{sets.shown(gpu.requirement)}`")]
            if line.place != gpu.requirement.place
            else [],
        )

    def _unbounded(
        self, fact: DependencySet, gpu: sets.Gpu, package: str, release: str, floor: str
    ) -> Finding:
        return self.finding(
            fact,
            f"`{sets.shown(gpu.requirement)}` runs on whatever cuDNN it finds, and nothing here says that "
            f"jax {release} needs {floor} or newer. Ask for `{package}>={floor}`, or check it where the "
            "program is deployed.",
            place=gpu.requirement.place,
            severity=Severity.INFO,
            confidence=Confidence.MEDIUM,
        )
