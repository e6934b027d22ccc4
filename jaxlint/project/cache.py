"""Results kept on disk between runs, by the content of what they were made from.

Everything is JSON: a repository may carry a cache directory that somebody else has filled, and nothing of it may
be run. Files are written to a temporary name and renamed, so that runs at the same time never see half a file;
what is damaged, unreadable or of another shape counts as not there. Nothing about the cache ever fails a run.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jaxlint import __version__
from jaxlint.digest import digest

if TYPE_CHECKING:
    from jaxlint.project.root import Project

DIRECTORY = ".jaxlint_cache"
_TAG = """\
Signature: 8a477f597d28d172789f06886806bc55
# This directory holds results of jaxlint. It can be deleted.
"""
_KEEP = 200  # files; beyond that the oldest are removed


class Cache:
    """A directory of small JSON files."""

    def __init__(self, directory: str) -> None:
        """`directory` need not exist."""
        self._directory = os.path.join(
            directory, f"{__version__}-{sys.version_info[0]}.{sys.version_info[1]}"
        )
        self._top = directory

    def get(self, key: str) -> Any:
        """What was stored, or None."""
        try:
            with open(self._path(key), encoding="utf-8") as stream:
                return json.load(stream)
        except (OSError, ValueError, RecursionError):
            return None

    def put(self, key: str, value: Any) -> None:
        """Store a value. Where that is not possible nothing happens."""
        path = self._path(key)
        temporary = f"{path}.{os.getpid()}.tmp"
        try:
            self._prepare(os.path.dirname(path))
            with open(temporary, "w", encoding="utf-8") as stream:
                json.dump(value, stream, separators=(",", ":"))
            os.replace(temporary, path)
        except (OSError, ValueError, TypeError, RecursionError):
            with contextlib.suppress(OSError):
                os.unlink(temporary)

    def prune(self) -> None:
        """Remove the oldest files where there are too many."""
        try:
            found = [
                (entry.stat().st_mtime, entry.path)
                for folder, _, _ in os.walk(self._top)
                for entry in os.scandir(folder)
                if entry.name.endswith((".json", ".tmp"))
            ]
            for _, path in sorted(found)[: max(0, len(found) - _KEEP)]:
                os.unlink(path)
        except OSError:
            pass

    def _path(self, key: str) -> str:
        return os.path.join(self._directory, key[:2], f"{key[2:]}.json")

    def _prepare(self, folder: str) -> None:
        os.makedirs(folder, exist_ok=True)
        for name, text in (("CACHEDIR.TAG", _TAG), (".gitignore", "*\n")):
            path = os.path.join(self._top, name)
            if not os.path.exists(path):
                with open(path, "w", encoding="utf-8") as stream:
                    stream.write(text)


def directory(project: Project) -> str:
    """Where the cache of a project lies, "" where there is no place for it."""
    return project.settings.cache_dir or (os.path.join(project.root, DIRECTORY) if project.root else "")


def fingerprint(pages: Iterable[str]) -> str:
    """Stands for the analysis itself: its sources and those of the rules, by size and time of change."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    seen: set[tuple[str, int, int]] = set()
    for top in {package, *(os.path.dirname(os.path.abspath(page)) for page in pages)}:
        for folder, below, names in os.walk(top):
            below[:] = [name for name in below if name != "__pycache__"]
            for name in names:
                if name.endswith((".py", ".md", ".json")):
                    stat = os.stat(os.path.join(folder, name))
                    seen.add((os.path.join(folder, name), stat.st_size, stat.st_mtime_ns))
    return digest(__version__, *map(repr, sorted(seen)))


def environment() -> str:
    """Stands for the installed packages: their directories change when one is installed or removed."""
    places = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    return digest(*(f"{path}:{os.stat(path).st_mtime_ns}" for path in places if os.path.isdir(path)))
