"""`--fix` and `--diff`: make the fixes of a run, or show them, and tell how it went."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from jaxlint.cli import status
from jaxlint.cli.check import Outcome
from jaxlint.finding import Applicability, Finding
from jaxlint.fix.diff import unified
from jaxlint.fix.draft import Draft
from jaxlint.fix.rounds import ROUNDS, Fixed, Look, fix
from jaxlint.project import source, writing
from jaxlint.project.files import SourceFile


def run(files: Sequence[SourceFile], look: Look, args: Namespace) -> Outcome:
    """Fix the files of a run, or under `--diff` show what that would change."""
    wanted = frozenset({Applicability.SAFE} | ({Applicability.UNSAFE} if args.unsafe_fixes else set()))
    own = [file for file in files if is_given(file, args.paths)]
    result = fix(own, look, wanted)
    _complain_of_failures(result)
    _complain_of_strangers(result.findings, files, own, wanted)
    if args.diff:
        return _show(result)
    return _write(result, own, look)


def _show(result: Fixed) -> Outcome:
    sys.stdout.flush()
    for path in sorted(result.drafts):
        sys.stdout.buffer.write(unified(result.drafts[path]))
    _tell("would fix", result.fixed)
    return Outcome(result.findings, _changed(result.drafts), len(result.fixed), _went_well(result))


def _write(result: Fixed, files: Iterable[SourceFile], look: Look) -> Outcome:
    """Write the files; standard input goes to standard output, changed or not."""
    drafts = {path: draft for path, draft in result.drafts.items() if _is_written(draft)}
    findings = result.findings
    if len(drafts) < len(result.drafts):
        # The others are as they were, and so is what is wrong with them, and with what depends on them.
        findings = look(_changed(drafts))
    sys.stdout.flush()
    for file in files:
        if file.data is not None:
            sys.stdout.buffer.write(drafts[file.path].data if file.path in drafts else file.data)
    fixed = [finding for finding in result.fixed if finding.path in drafts]
    _tell("fixed", fixed)
    went_well = _went_well(result) and len(drafts) == len(result.drafts)
    return Outcome(findings, _changed(drafts), len(fixed), went_well)


def _went_well(result: Fixed) -> bool:
    return not (result.unsettled or result.refused)


def _is_written(draft: Draft) -> bool:
    """Write a file's draft. False, and a line on stderr, where that cannot be done."""
    if draft.file.data is not None:
        return True
    try:
        if source.read_bytes(draft.file) != draft.before:
            status.complain(f"{draft.file.path}: not fixed: it has changed since it was read")
            return False
        writing.write(draft.file.absolute, draft.data)
    except (OSError, source.SourceError) as error:
        status.complain(f"{draft.file.path}: cannot write: {getattr(error, 'strerror', None) or error}")
        return False
    return True


def _changed(drafts: Mapping[str, Draft]) -> dict[str, SourceFile]:
    return {path: draft.as_file() for path, draft in drafts.items()}


def is_given(file: SourceFile, paths: Sequence[str]) -> bool:
    """Whether a file lies where the run was told to look. A link in a directory may lead elsewhere."""
    if file.data is not None:
        return True
    return any(_is_below(file.absolute, os.path.realpath(_fixed_part(path))) for path in paths or ["."])


def _fixed_part(pattern: str) -> str:
    """A path, or the directories of a pattern before its first wildcard."""
    if os.path.lexists(pattern) or not any(wildcard in pattern for wildcard in "*?["):
        return pattern
    return os.path.dirname(pattern[: min(pattern.find(w) for w in "*?[" if w in pattern)]) or "."


def _is_below(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)


# ---------------------------------------------------------------- what is told


def _tell(what: str, fixed: Sequence[Finding]) -> None:
    if not fixed:
        return
    counts = Counter(finding.code for finding in fixed)
    files = len({finding.path for finding in fixed})
    codes = ", ".join(f"{code} ({count})" if count > 1 else code for code, count in sorted(counts.items()))
    findings = f"{len(fixed)} finding{'s' if len(fixed) > 1 else ''}"
    status.complain(f"{what} {findings} in {files} file{'s' if files > 1 else ''}: {codes}")


def _complain_of_failures(result: Fixed) -> None:
    for path, reason in sorted(result.refused.items()):
        status.complain(f"{path}: not fixed: {reason}")
    for path, codes in sorted(result.unsettled.items()):
        how = "undo each other" if path in result.fighting else "are still to be made"
        status.complain(f"{path}: after {ROUNDS} rounds fixes {how}: {', '.join(codes)}")


def _complain_of_strangers(
    findings: Iterable[Finding],
    files: Iterable[SourceFile],
    own: Sequence[SourceFile],
    wanted: frozenset[Applicability],
) -> None:
    fixable = {f.path for f in findings if f.fix is not None and f.fix.applicability in wanted}
    for file in files:
        if file not in own and file.path in fixable:
            status.complain(
                f"{file.path}: not fixed: it leads to {file.absolute}, outside of the given paths"
            )
