"""The sources of a run: what was read once, and as many syntax trees as fit into memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jaxlint.digest import digest
from jaxlint.finding import Finding
from jaxlint.project.files import SourceFile, shown
from jaxlint.project.source import Source, SourceError, decode, parse, read_bytes

_LINES = 60_000  # of trees that are held; a tree takes about 1.2 kB a line


class Sources:
    """Reads and parses files, by absolute path.

    A file that is no longer what it was when it was first read cannot be read any more: a run is about one state
    of the project. `changed` tells whether there was one.
    """

    def __init__(self, given: Mapping[str, SourceFile]) -> None:
        """`given` are the files that were handed over, by absolute path: their content is not read again."""
        self.given = given
        self.digests: dict[str, str] = {}
        self.changed = False
        self._held: dict[str, Source] = {}  # the one used last at the end
        self._lines = 0
        self._limit = _LINES

    def file(self, path: str) -> SourceFile:
        """The file as it was given, else as the user would be shown it."""
        return self.given.get(path) or SourceFile(shown(path), path)

    def read(self, path: str) -> bytes:
        """The content of a file. Raises SourceError."""
        data = read_bytes(self.file(path))
        now = digest(data)
        if self.digests.setdefault(path, now) != now:
            self.changed = True
            raise SourceError("cannot read: it changed while it was checked")
        return data

    def share(self, number: int) -> None:
        """Hold no more trees than one of so many processes may."""
        self._limit = max(_LINES // number, _LINES // 8)
        self._held.clear()
        self._lines = 0

    def __getstate__(self) -> dict[str, Any]:
        """For another process: without trees."""
        return {**self.__dict__, "_held": {}, "_lines": 0}

    def read_all(self, paths: Iterable[str]) -> tuple[dict[str, bytes], dict[str, Finding]]:
        """What these files and the given ones hold, and what is wrong with given ones that cannot be read."""
        contents, problems = {}, {}
        for path in sorted({*paths, *self.given}):
            try:
                data = self.read(path)
                if path in self.given:
                    decode(data)
            except SourceError as error:
                if path in self.given:
                    problems[path] = error.finding(self.given[path].path)
                continue
            contents[path] = data
        return contents, problems

    def parsed(self, path: str) -> Source:
        """Text and tree of a file. Raises SourceError."""
        held = self._held.pop(path, None)
        if held is None:
            text, encoding = decode(self.read(path))
            held = Source(text, encoding, self.file(path).tree or parse(text))
            self._lines += _length(held)
        self._held[path] = held
        while self._lines > self._limit and len(self._held) > 1:
            self._lines -= _length(self._held.pop(next(iter(self._held))))
        return held


def _length(source: Source) -> int:
    return source.text.count("\n")
