"""A run's files, each with the settings that are nearest to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from jaxlint.project import settings as settings_files
from jaxlint.project.files import SourceFile, discover
from jaxlint.project.root import Project, find_root
from jaxlint.project.settings import Settings, SettingsError
from jaxlint.project.toml import TomlError

Override = Callable[[Settings], Settings]


class Part(NamedTuple):
    """Files that one settings file, or none, holds for."""

    project: Project
    files: list[SourceFile]

    @property
    def settings(self) -> Settings:
        return self.project.settings


class Workspace:
    """What a run is about.

    `project` is the one around all given paths: its settings decide about the run as a whole. `problems`
    has a line for each path that leads to nothing and each settings file below that cannot be used; the
    files that such settings hold for are in no part.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.parts: list[Part] = []
        self.problems: list[str] = []

    @property
    def settings(self) -> Settings:
        return self.project.settings

    @property
    def files(self) -> list[SourceFile]:
        """All files, sorted by path."""
        return sorted((file for part in self.parts for file in part.files), key=lambda file: file.path)


def survey(
    paths: Sequence[str],
    given: Sequence[SourceFile] = (),
    *,
    config: str | None = None,
    isolated: bool = False,
    override: Override = lambda settings: settings,
) -> Workspace:
    """Find settings, project and files for paths, and for files that were handed over.

    `config` is a settings file for everything, `isolated` means none; `override` is what the command line
    says. Raises SettingsError or TomlError where the settings around all paths cannot be used.
    """
    places = [os.path.realpath(path) for path in (*paths, *(file.absolute for file in given))]
    base = _common_directory(places)
    known: dict[str, str | None] = {}
    file = os.path.abspath(config) if config else None if isolated else settings_files.find(base, known)
    project = Project(root_of(None if config else file, base), _load(file, override), places)
    _ = project.pyproject  # that it is broken is better known before the run than within it
    workspace = Workspace(project)

    found = discover(paths, project, given)
    workspace.problems += found.problems
    if config or isolated:
        workspace.parts = [Part(project, found.files)]
    else:
        _divide(workspace, file, found.files, found.named, known, override)
    return workspace


def root_of(settings_file: str | None, directory: str) -> str:
    """The root of the project around a directory: where its settings are, else what looks like one."""
    return os.path.dirname(settings_file) if settings_file else find_root(directory)


def _divide(
    workspace: Workspace,
    file: str | None,
    sources: Sequence[SourceFile],
    named: set[str],
    known: dict[str, str | None],
    override: Override,
) -> None:
    """Put files to the settings that are nearest to them."""
    projects: dict[str | None, Project | None] = {file: workspace.project}
    parts: dict[str | None, Part] = {}
    for source in sources:
        try:
            nearest = settings_files.find(os.path.dirname(source.absolute), known)
        except TomlError as error:
            workspace.problems += [line for line in [str(error)] if line not in workspace.problems]
            continue
        if nearest not in projects:
            projects[nearest] = _nested(nearest, workspace, override)
        project = projects[nearest]
        if project is None:
            continue
        forced = project.settings.force_exclude or source.absolute not in named
        if nearest != file and forced and project.excluded_from_above(source.absolute):
            continue
        parts.setdefault(nearest, Part(project, [])).files.append(source)
    workspace.parts = list(parts.values())


def _nested(file: str | None, workspace: Workspace, override: Override) -> Project | None:
    """The project of a settings file below, None where it cannot be used."""
    try:
        return Project(root_of(file, ""), _load(file, override))
    except (SettingsError, TomlError) as error:
        workspace.problems.append(str(error))
        return None


def _load(file: str | None, override: Override) -> Settings:
    return override(settings_files.load(file) if file else Settings())


def _common_directory(places: Sequence[str]) -> str:
    """The directory around all places, one that exists."""
    try:
        common = os.path.commonpath(places) if places else os.getcwd()
    except ValueError:  # on different drives
        common = os.getcwd()
    while not os.path.isdir(common) and os.path.dirname(common) != common:
        common = os.path.dirname(common)
    return common
