"""The flake8 plugin: warnings and errors of jaxlint among flake8's own.

It imports nothing of flake8, reads the same settings as the command line, and leaves `noqa`, `select` and
`ignore` to flake8. The tree is the one that flake8 has parsed.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from jaxlint import __version__, registry
from jaxlint.engine_codes import INTERNAL_ERROR
from jaxlint.finding import Finding, Severity
from jaxlint.project import settings, source, workspace
from jaxlint.project.files import SourceFile
from jaxlint.project.policy import Policy
from jaxlint.project.root import Project

if TYPE_CHECKING:
    from jaxlint.project.baseline import Baseline

_Report = tuple[int, int, str, type]


class Plugin:
    """What flake8 makes one of for each file."""

    name: ClassVar[str] = "jaxlint"
    version: ClassVar[str] = __version__

    def __init__(self, tree: ast.Module, filename: str, lines: Sequence[str]) -> None:
        self._tree = tree
        self._filename = filename
        self._lines = lines

    def run(self) -> Iterator[_Report]:
        """Line (from 1), column (from 0), text and type of each finding. Never raises."""
        try:
            found = _findings(_file(self._tree, self._filename, self._lines))
        except Exception as error:  # flake8 would stop at it, and report nothing of any plugin
            message = " ".join(f"{type(error).__name__}: {error}".split())
            yield 1, 0, f"{INTERNAL_ERROR.code} {message}", Plugin
            return
        for finding in found:
            here = finding.path == self._filename
            line, column = (finding.span.line, finding.span.column - 1) if here else (1, 0)
            message = " ".join(finding.message.split())
            where = "" if here else f"{finding.path}: "
            yield line, column, f"{finding.code} {where}{message}", Plugin


def _file(tree: ast.Module, filename: str, lines: Sequence[str]) -> SourceFile:
    text = "".join(lines)
    try:
        data = text.encode(source.declared_encoding(text.encode("utf-8", "replace")))
    except (source.SourceError, UnicodeEncodeError):
        data = text.encode("utf-8", "replace")
    return SourceFile(filename, os.path.realpath(filename), data, tree)


def _findings(file: SourceFile) -> list[Finding]:
    from jaxlint.check import check

    directory = os.path.dirname(file.absolute)
    settings_file, root = _surroundings(directory)
    policy = _policy(settings_file, root, "" if root else file.absolute)
    project = policy.project
    if project.excluded_from_above(file.absolute):
        return []
    found = check([file], project, project.settings, policy.rules, jobs=1, cache=True)
    reported = _reported(file, [finding for finding in found if finding.path == file.path], policy)
    return sorted([*policy.mistakes_in_settings(), *reported], key=lambda finding: finding.span)


def _reported(file: SourceFile, found: Sequence[Finding], policy: Policy) -> list[Finding]:
    path = policy.project.settings.baseline
    if not path:
        return policy.report(file, found)
    return _baseline(path).unknown(file, policy.standing(file, found), policy.judged(file), policy.is_enough)


@cache
def _baseline(path: str) -> Baseline:
    from jaxlint.project import baseline

    return baseline.load(path)


@cache
def _surroundings(directory: str) -> tuple[str | None, str]:
    """Settings file and root for a directory."""
    settings_file = settings.find(directory)
    return settings_file, workspace.root_of(settings_file, directory)


@cache
def _policy(settings_file: str | None, root: str, lone_file: str) -> Policy:
    """What holds for all files of a project. flake8 comes with one after the other; this is made once."""
    found = settings.load(settings_file) if settings_file else settings.Settings()
    project = Project(root, found, [lone_file] if lone_file else [])
    _ = project.pyproject  # that it is broken is one finding about the settings, not one of a rule
    return Policy(project, registry.listed(), min_severity=Severity.WARNING, honour_noqa=False)
