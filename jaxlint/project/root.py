"""A project: where it begins, which Python files it has and what it runs on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from jaxlint.project import toml, versions, walk
from jaxlint.project.patterns import Patterns
from jaxlint.project.settings import OWN_FILE, PYPROJECT, Settings

# Where a project says, beside its modules, what environment it wants.
_TELLING = (PYPROJECT, "pytest.ini", "tox.ini", "setup.cfg", "README.md", "README.rst", "Makefile", ".env")
_MARKERS = (PYPROJECT, OWN_FILE, ".git", "setup.py", "setup.cfg")


def find_root(directory: str) -> str:
    """The nearest directory, this one or above it, that looks like the top of a project; "" if there is none.

    Somebody's home directory and `/` are never taken for one: a forgotten setup.py there would make
    everything they have a single project.
    """
    home = os.path.expanduser("~")
    while (parent := os.path.dirname(directory)) != directory:
        if directory != home and any(os.path.exists(os.path.join(directory, name)) for name in _MARKERS):
            return directory
        directory = parent
    return ""


class Project:
    """What a run knows of the code around its files. Cheap to make: answers are found when asked."""

    def __init__(self, root: str, settings: Settings, places: Sequence[str] = ()) -> None:
        """`root` is absolute, "" when there is none. `places` are then the given files and directories."""
        self.root = root
        self.settings = settings
        self._places = tuple(places)

    def relative(self, path: str) -> str:
        """A path as patterns see it: from the root where it lies below, else as it is."""
        inside = walk.relative(path, self.root) if self.root else None
        return path.replace(os.sep, "/") if inside is None else inside

    def excluded(self, path: str, is_directory: bool) -> bool:
        """Whether the settings leave out a file or directory (absolute), those above it aside."""
        return bool(self._exclude.decide(self.relative(path), is_directory))

    def excluded_from_above(self, path: str, is_directory: bool = False) -> bool:
        """Whether the settings leave out a file or directory (absolute), or one above it."""
        return self._exclude.cover(self.relative(path), is_directory)

    def top(self, path: str) -> str:
        """The directory from which a Python file (absolute) may be imported by the longest name: the root, without
        one the given directory around it, or its own."""
        if self.root:
            return self.root
        around = (place for place in self._places if walk.relative(path, place) is not None)
        return max(around, key=len, default=os.path.dirname(path))

    def look_again(self) -> None:
        """Forget which files there are."""
        self.__dict__.pop("_python_files", None)

    def python_files(self) -> list[str]:
        """The absolute paths of all Python files of the project, those that the settings leave out aside.

        Without a root: the Python files beside the given files, and all in the given directories.
        """
        return self._python_files

    @property
    def requires_python(self) -> tuple[int, int]:
        """The oldest Python that the project supports, as (major, minor)."""
        return versions.python(self.pyproject)

    @cached_property
    def jax_version(self) -> versions.Version:
        """The version of JAX that findings and fixes are made for."""
        return self.settings.jax_version or versions.library("jax", self.root)

    @cached_property
    def equinox_version(self) -> versions.Version:
        """The same for Equinox."""
        return self.settings.equinox_version or versions.library("equinox", self.root)

    @cached_property
    def flax_version(self) -> versions.Version:
        """The same for Flax."""
        return self.settings.flax_version or versions.library("flax", self.root)

    @cached_property
    def pyproject(self) -> dict[str, Any]:
        """The content of the root's pyproject.toml, empty when there is none. Raises TomlError."""
        path = os.path.join(self.root, PYPROJECT)
        return toml.load(path) if self.root and os.path.isfile(path) else {}

    @cached_property
    def commands(self) -> frozenset[tuple[str, str]]:
        """(module, function) of each command that an installed project offers. Raises TomlError."""
        return frozenset(versions.commands(self.pyproject))

    def names_x64(self) -> bool:
        """Whether a file that says how the project is tested or used speaks of 64-bit mode."""
        return bool(self.root) and any(_names_x64(os.path.join(self.root, name)) for name in _TELLING)

    @cached_property
    def _exclude(self) -> Patterns:
        return Patterns((*self.settings.exclude, *self.settings.extend_exclude))

    @cached_property
    def _python_files(self) -> list[str]:
        if self.root:
            return sorted(walk.python_files(self.root, self.excluded))
        found: set[str] = set()
        for place in self._places:
            if os.path.isdir(place):
                found.update(walk.python_files(place, self.excluded))
            else:
                found.update(_beside(os.path.dirname(place)))
        return sorted(found)


def _beside(directory: str) -> list[str]:
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    paths = (os.path.join(directory, name) for name in names if name.endswith(walk.SUFFIXES))
    return [path for path in paths if os.path.isfile(path)]


def _names_x64(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return b"enable_x64" in file.read().lower()
    except OSError:
        return False
