"""`--show-files` and `--show-settings`: what a run would be about."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from jaxlint.project.settings import as_table
from jaxlint.project.workspace import Workspace


def files(workspace: Workspace) -> None:
    """The files of a run, one a line."""
    for file in workspace.files:
        print(file.path)


def settings(workspace: Workspace) -> None:
    """What is in force and where it comes from, as a settings file."""
    project = workspace.project
    versions = {"jax": project.jax_version, "equinox": project.equinox_version, "flax": project.flax_version}
    print(f"# settings file: {workspace.settings.file or 'none'}")
    print(f"# project: {project.root or 'none'}")
    print(f"# judged for Python {_dotted(project.requires_python)} and newer")
    print(f"# judged for {', '.join(f'{name} {_dotted(version)}' for name, version in versions.items())}")
    for key, value in as_table(workspace.settings).items():
        print(f"{key} = {_toml(value)}")


def _dotted(version: Sequence[int]) -> str:
    return ".".join(map(str, version))


def _toml(value: object) -> str:
    """A value as TOML, which is JSON but for tables."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{json.dumps(key)} = {_toml(item)}' for key, item in value.items())}}}"
    return json.dumps(value)
