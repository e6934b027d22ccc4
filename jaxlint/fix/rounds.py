"""Fix, look again, fix what is left: until a round changes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from jaxlint.engine_codes import INTERNAL_ERROR
from jaxlint.finding import Applicability, Finding
from jaxlint.fix.draft import Draft
from jaxlint.project.files import SourceFile
from jaxlint.project.source import SourceError

ROUNDS = 10

# Given the files that are not as they are on disk, by path: what is reported about all files of the run. All that
# is known of the project has to be found out anew, since a change in one module may concern another.
Look = Callable[[Mapping[str, SourceFile]], list[Finding]]


class Fixed(NamedTuple):
    """What became of a run's files.

    `findings` is what is reported of the files as they are in `drafts` (by path; those that changed), with JAX000
    for each fix that was left out because it would have broken its file. `fixed` are the findings that were
    fixed. `refused` says of files with fixable findings why they cannot be fixed. `unsettled` are the codes whose
    fixes were still being made after the last round, by path, and `fighting` those of these files that had been
    there before: their fixes undo each other.
    """

    findings: list[Finding]
    drafts: dict[str, Draft]
    fixed: list[Finding]
    refused: dict[str, str]
    unsettled: dict[str, list[str]]
    fighting: frozenset[str]


def fix(files: Sequence[SourceFile], look: Look, wanted: frozenset[Applicability]) -> Fixed:
    """Make the wanted fixes of what is reported about files. Nothing is written."""
    bench = _Bench(files, wanted)
    every: list[Finding] = []
    for _ in range(ROUNDS):
        findings = look(bench.changed())
        fixed, dropped = bench.round(findings)
        if not fixed:
            break
        every += fixed
    else:
        findings = look(bench.changed())
        # What one more round would do says what is still to be done; its result is not kept.
        kept = dict(bench.drafts)
        fixed, dropped = bench.round(findings)
        bench.drafts = kept
    unsettled: dict[str, list[str]] = {}
    for finding in fixed:
        unsettled.setdefault(finding.path, []).append(finding.code)
    # Fixes that undo each other may have led back to where a file began.
    drafts = {path: draft for path, draft in bench.drafts.items() if draft.data != draft.before}
    return Fixed(
        findings=[*findings, *map(_broken, dropped)],
        drafts=drafts,
        fixed=every,
        refused=bench.refused,
        unsettled={path: sorted(set(codes)) for path, codes in unsettled.items()},
        fighting=frozenset(bench.repeating & unsettled.keys()),
    )


class _Bench:
    """The files that are being fixed. `repeating` are the paths of those that were as they are now before."""

    def __init__(self, files: Sequence[SourceFile], wanted: frozenset[Applicability]) -> None:
        self.drafts: dict[str, Draft] = {}
        self.refused: dict[str, str] = {}
        self.repeating: set[str] = set()
        self._wanted = wanted
        self._history: dict[str, set[str]] = {}
        # A finding is about a file as it was when it was looked at: somebody may save it in the meantime.
        self._files = {file.path: (file, _state(file)) for file in files}

    def changed(self) -> dict[str, SourceFile]:
        """The files that are not as they are on disk."""
        return {path: draft.as_file() for path, draft in self.drafts.items()}

    def round(self, findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
        """Make what fixes can be made at once: the findings fixed, and those whose fixes would break a file."""
        by_path: dict[str, list[Finding]] = {}
        for finding in findings:
            if finding.fix is not None and finding.fix.applicability in self._wanted:
                by_path.setdefault(finding.path, []).append(finding)
        fixed: list[Finding] = []
        dropped: list[Finding] = []
        for path, fixable in by_path.items():
            draft = self._draft(path)
            if draft is None:
                continue
            made = draft.fixed(fixable)
            dropped += made.dropped
            if made.draft.text != draft.text:
                self._take(path, draft, made.draft)
                fixed += made.fixed
        return fixed, dropped

    def _draft(self, path: str) -> Draft | None:
        if path in self.drafts or path not in self._files:
            return self.drafts.get(path)
        file, state = self._files[path]
        try:
            draft = Draft.of(file)
        except SourceError as error:
            self.refused[path] = error.message
            return None
        if _state(file) != state:
            self.refused[path] = "it has changed since it was read"
            return None
        return draft

    def _take(self, path: str, old: Draft, new: Draft) -> None:
        history = self._history.setdefault(path, {old.text})
        if new.text in history:
            self.repeating.add(path)
        history.add(new.text)
        self.drafts[path] = new


def _state(file: SourceFile) -> tuple[int, int]:
    """What tells that a file on disk has been written to."""
    if file.data is not None:
        return 0, 0
    try:
        state = os.stat(file.absolute)
    except OSError:
        return 0, 0
    return state.st_mtime_ns, state.st_size


def _broken(finding: Finding) -> Finding:
    title = finding.fix.title if finding.fix is not None else ""
    return INTERNAL_ERROR.finding(
        finding.place, f"{finding.code}: its fix ({title}) would break the file, so it was not made"
    )
