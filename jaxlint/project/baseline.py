"""The findings that a project has decided to live with for now, kept in a file that goes with the sources.

    {
      "version": 1,
      "findings": [
        {"path": "src/train.py", "code": "JAX103", "symbol": "main", "line": "1b2f...", "occurrence": 1}
      ]
    }

One finding a line, sorted, so that a change of one is one line of a diff. Paths are relative to the project that
the file lies in, whatever directory a run begins in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from jaxlint.columns import split_lines
from jaxlint.engine_codes import FAILURES
from jaxlint.finding import Finding
from jaxlint.identity import Identity, identities
from jaxlint.project import source, walk, writing
from jaxlint.project.files import SourceFile
from jaxlint.project.root import find_root

_VERSION = 1
_FIELDS = {"path": str, "code": str, "symbol": str, "line": str, "occurrence": int}


class BaselineError(Exception):
    """A baseline that cannot be used. The text is one line that names the file."""


class Baseline:
    """A baseline at work on the files of a run, one after the other."""

    def __init__(self, path: str, known: Iterable[Identity] = ()) -> None:
        """`path` is absolute."""
        self.path = path
        directory = os.path.realpath(os.path.dirname(path))
        self._root = find_root(directory) or directory
        self._known = frozenset(known)
        self._found: dict[Identity, bool] = {}  # and whether it is to be reported
        self._judged: set[tuple[str, str]] = set()  # path and code of what was looked for

    def unknown(
        self,
        file: SourceFile,
        findings: Sequence[Finding],
        judged: Collection[str],
        enough: Callable[[Finding], bool],
    ) -> list[Finding]:
        """The findings of a file that are `enough` to be reported and not in the baseline.

        `judged` are the codes that were looked for in the file. Failures are never in a baseline; a file that
        has one was not looked at as a whole, so that nothing of it counts as gone.
        """
        failures = [finding for finding in findings if finding.code in FAILURES]
        others = [finding for finding in findings if finding.code not in FAILURES]
        path = self._relative(file)
        if not failures:
            self._judged.update((path, code) for code in judged)
        lines = _lines(file) if others else []
        new = failures
        for finding, identity in identities(
            others, lambda _: path, lambda _, number: lines[number - 1] if number <= len(lines) else None
        ):
            self._found[identity] = enough(finding)
            if self._found[identity] and identity not in self._known:
                new.append(finding)
        return new

    @property
    def stale(self) -> list[Identity]:
        """The entries that stand for nothing any more: of what was looked for, and of files that are gone."""
        gone = {path for path in {entry.path for entry in self._known} if not self._exists(path)}
        return sorted(
            entry
            for entry in self._known - self._found.keys()
            if entry.path in gone or (entry.path, entry.code) in self._judged
        )

    def update(self) -> int:
        """Write what is found now, and what was not looked for; the number of entries. Raises OSError."""
        kept = self._known.difference(self.stale)
        entries = sorted(kept | {identity for identity, enough in self._found.items() if enough})
        rows = ",".join(f"\n    {json.dumps(entry._asdict())}" for entry in entries)
        end = "\n  ]" if entries else "]"
        text = f'{{\n  "version": {_VERSION},\n  "findings": [{rows}{end}\n}}\n'
        writing.write(self.path, text.encode("ascii"))
        return len(entries)

    def _relative(self, file: SourceFile) -> str:
        inside = walk.relative(file.absolute, self._root)
        return file.absolute.replace(os.sep, "/") if inside is None else inside

    def _exists(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self._root, path))


def load(path: str, *, missing_is_empty: bool = False) -> Baseline:
    """The baseline of a file (absolute). Raises BaselineError."""
    try:
        with open(path, encoding="utf-8") as stream:
            return Baseline(path, _entries(json.load(stream)))
    except FileNotFoundError:
        if missing_is_empty:
            return Baseline(path)
        raise BaselineError(f"{path}: there is no such baseline; --update-baseline makes one") from None
    except OSError as error:
        raise BaselineError(f"{path}: cannot read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, or not what we write
        raise BaselineError(f"{path}: not a baseline: {error}") from None


def _entries(data: Any) -> Iterable[Identity]:
    """The entries of a baseline. Raises ValueError where it is not one."""
    if not isinstance(data, dict) or "findings" not in data:
        raise ValueError('it has no "findings"')
    if data.get("version") != _VERSION:
        raise ValueError(f"its version is {data.get('version')!r}, this jaxlint knows {_VERSION}")
    if not isinstance(data["findings"], list):
        raise ValueError('"findings" is no list')
    return [_entry(number, row) for number, row in enumerate(data["findings"], start=1)]


def _entry(number: int, row: Any) -> Identity:
    if isinstance(row, dict):
        values: list[Any] = [row.get(name) for name in _FIELDS]
        if all(type(value) is kind for value, kind in zip(values, _FIELDS.values(), strict=True)):
            return Identity(*values)
    raise ValueError(f"entry {number} is not made of {', '.join(_FIELDS)}")


def _lines(file: SourceFile) -> list[str]:
    try:
        return split_lines(source.decode(source.read_bytes(file))[0])
    except source.SourceError:
        return []
