"""What the points are judged by: findings and facts of the analysis, the project's tests, and what its files and
this shell say about the environment. Nothing of the user's is imported or run."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from jaxlint.dependencies.names import format_of
from jaxlint.finding import Finding, Severity
from jaxlint.flow.facts import Fact, ModuleRole
from jaxlint.preflight import launches
from jaxlint.preflight.launches import Launch
from jaxlint.preflight.variables import PREFIXES, Assignment, in_files, in_modules, scripts
from jaxlint.project import source
from jaxlint.project.deep import with_deep_stack
from jaxlint.project.files import SourceFile, shown
from jaxlint.project.role import role
from jaxlint.project.workspace import Part, Workspace
from jaxlint.session import Session

if TYPE_CHECKING:
    from jaxlint.project.policy import Policy
    from jaxlint.rule import Rule

F = TypeVar("F", bound=Fact)


@dataclass(slots=True)
class Module:
    """A parsed module, by the path that is shown."""

    path: str
    tree: ast.Module


@dataclass(slots=True)
class Material:
    """Everything, of all projects that the paths lead into."""

    findings: list[Finding] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    modules: list[Module] = field(default_factory=list)  # those asked for, tests aside
    tests: list[Module] = field(default_factory=list)  # of the whole project
    dependency_files: list[str] = field(default_factory=list)
    variables: list[Assignment] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)  # modules that were asked for and cannot be parsed
    unread_tests: list[str] = field(default_factory=list)
    suppressions: dict[str, Callable[[Finding], bool]] = field(default_factory=dict)  # by file

    def is_suppressed(self, finding: Finding) -> bool:
        """Whether a comment or a setting would hold a finding back."""
        holds_back = self.suppressions.get(finding.path)
        return holds_back is not None and holds_back(finding)

    def of(self, kind: type[F]) -> Iterator[F]:
        """The facts of one kind, each place once."""
        seen = set()
        for fact in self.facts:
            if isinstance(fact, kind) and fact.place not in seen:
                seen.add(fact.place)
                yield fact


def gather(
    workspace: Workspace, rules: Sequence[Rule], environment: Mapping[str, str], paths: Sequence[str]
) -> Material:
    """Analyse what the workspace holds; `paths` are those that were given."""
    found = Material()
    for part in workspace.parts:
        _findings(part, rules, found)
        _facts(part, rules, found)
        _parse(part, found)
        found.dependency_files += [file.path for file in part.files if format_of(file.path)]
        found.variables += [a for a in in_files(part.project, paths) if a not in found.variables]
        known = launches.in_files(scripts(part.project, paths))
        found.launches += [launch for launch in known if launch not in found.launches]
    found.variables += in_modules((module.path, module.tree) for module in found.modules)
    found.variables += [
        Assignment(name, value, "this shell")
        for name, value in environment.items()
        if name.startswith(PREFIXES)
    ]
    return found


def _findings(part: Part, rules: Sequence[Rule], found: Material) -> None:
    """What `check` would say with every rule; suppressions in the sources count."""
    from jaxlint.check import check
    from jaxlint.project.policy import Policy

    policy = Policy(part.project, rules, min_severity=Severity.INFO)
    jobs = part.settings.jobs or os.cpu_count() or 1
    findings = check(part.files, part.project, part.settings, policy.rules, jobs=jobs)
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    for file in part.files:
        found.findings += policy.report(file, by_path.get(file.path, ()))
        found.suppressions[file.path] = partial(_holds_back, policy, file)


def _holds_back(policy: Policy, file: SourceFile, finding: Finding) -> bool:
    return finding not in policy.standing(file, [finding])


def _facts(part: Part, rules: Sequence[Rule], found: Material) -> None:
    files = [file for file in part.files if not format_of(file.path)]
    session = Session(files, part.project, rules)
    asked = {file.path for file in files}

    def collect() -> None:
        for root in session.roots:
            analysis, kind = session.analysis(), session.module_role(root)
            module = analysis.program.load(root)
            if module is None or kind is ModuleRole.TEST:
                continue
            found.facts += [fact for fact in analysis.facts(module, kind) if fact.place.path in asked]

    with_deep_stack(collect)


def _parse(part: Part, found: Material) -> None:
    """The trees of the modules that were asked for, and of the project's tests."""
    asked = {file.absolute: file for file in part.files if not format_of(file.path)}
    for absolute in sorted({*asked, *part.project.python_files()}):
        file = asked.get(absolute) or SourceFile(shown(absolute), absolute)
        name = part.project.relative(absolute)
        if absolute not in asked and "test" not in name:  # nobody asked, and it is no test
            continue
        tree = source.read(file).tree
        if tree is None:
            (found.unread if absolute in asked else found.unread_tests).append(file.path)
        elif role(tree, name, part.settings) is ModuleRole.TEST:
            found.tests.append(Module(file.path, tree))
        elif absolute in asked:
            found.modules.append(Module(file.path, tree))
