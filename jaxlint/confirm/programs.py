"""Which program shows what a module does: the module itself, or a program beside it that imports it."""

from __future__ import annotations

import os
import re

from jaxlint.confirm.claims import Claims
from jaxlint.flow.facts import ModuleRole
from jaxlint.project.role import role
from jaxlint.project.root import Project
from jaxlint.project.source import SourceError


class Programs:
    """Finds programs, each once."""

    def __init__(self, claims: Claims, project: Project) -> None:
        self._claims = claims
        self._project = project
        self._known: dict[str, str] = {}

    def of(self, file: str) -> str:
        """The program (absolute) to run for a file. It is the file itself where nothing else is known to run it."""
        if file not in self._known:
            self._known[file] = self._find(file)
        return self._known[file]

    def _find(self, file: str) -> str:
        directory, name = os.path.split(file)
        in_package = os.path.isfile(os.path.join(directory, "__init__.py"))
        if in_package or self._role(file) is not ModuleRole.LIBRARY:
            return file
        imports = re.compile(
            rf"^\s*(?:from|import)\s+{re.escape(os.path.splitext(name)[0])}\b".encode(), re.MULTILINE
        )
        try:
            beside = sorted(
                other for other in os.listdir(directory) if other.endswith(".py") and other != name
            )
        except OSError:
            return file
        for other in beside:
            path = os.path.join(directory, other)
            try:
                found = imports.search(self._claims.sources.read(path))
            except SourceError:
                continue
            if found and self._role(path) is ModuleRole.APPLICATION:
                return path
        return file

    def _role(self, file: str) -> ModuleRole | None:
        try:
            tree = self._claims.sources.parsed(file).tree
        except SourceError:
            return None
        return role(tree, self._project.relative(file), self._project.settings) if tree is not None else None
