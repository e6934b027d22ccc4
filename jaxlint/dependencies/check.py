"""The rules about dependency files, asked about the environments of each file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jaxlint import registry
from jaxlint.context import Context
from jaxlint.finding import Finding
from jaxlint.flow.facts import DependencySet
from jaxlint.judge import failed
from jaxlint.project.files import SourceFile
from jaxlint.project.root import Project
from jaxlint.rule import Pair, Rule


def findings(files: Iterable[SourceFile], project: Project, rules: Sequence[Rule]) -> list[Finding]:
    """What the rules say of these dependency files. Never raises."""
    asked = registry.pairs(rules).get(DependencySet, [])
    given = {file.absolute: file for file in files}
    return [f for file in given.values() for f in _of_file(file, given, project, asked)] if asked else []


def _of_file(
    file: SourceFile,
    given: Mapping[str, SourceFile],
    project: Project,
    asked: Sequence[tuple[Rule, Pair]],
) -> list[Finding]:
    from jaxlint.dependencies.read import environments, may_name_jax
    from jaxlint.dependencies.text import load
    from jaxlint.engine_codes import internal_error

    found: list[Finding] = []
    try:
        text = load(file, given)
        environments_of_file = environments(text) if text is not None and may_name_jax(text) else []
    except Exception as error:
        return [internal_error(file.path, error)]
    for fact in environments_of_file:
        for rule, pair in asked:
            try:
                if pair.suspect(fact):
                    found += pair.check(fact, None, _context(file, project))
            except Exception as error:
                found.append(failed(rule, fact.place, error))
    return found


def _context(file: SourceFile, project: Project) -> Context:
    no_tree: Any = None  # there is no syntax tree, and a rule about dependencies asks for none
    return Context(file.path, "", no_tree, {}, jax_version=project.jax_version)
