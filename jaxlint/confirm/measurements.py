"""What executables were found to take, kept between runs in the cache of the project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jaxlint.digest import digest
from jaxlint.project.cache import Cache, directory, fingerprint
from jaxlint.project.root import Project


class Measurements:
    """Figures of `child/memory.py` by the digest of `child/fingerprint.py`: lowered module, target and versions."""

    def __init__(self, directory: str) -> None:
        self._cache = Cache(directory)
        self._program = fingerprint(())

    def get(self, executable: str) -> Mapping[str, Any] | None:
        """What is known of an executable; nothing of one without a digest."""
        found = self._cache.get(self._key(executable)) if executable else None
        return found if isinstance(found, dict) else None

    def put(self, executable: str, figures: Mapping[str, Any]) -> None:
        """Keep what was measured."""
        if executable:
            self._cache.put(self._key(executable), figures)

    def _key(self, executable: str) -> str:
        return digest("executable", self._program, executable)


def measurements(project: Project) -> Measurements | None:
    """Those of a project, None where it has no place for them."""
    place = directory(project)
    return Measurements(place) if place else None
