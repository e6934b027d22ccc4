"""`--add-ignore`: write a suppression beside each finding, and report what is left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from jaxlint.cli import status
from jaxlint.cli.check import Outcome
from jaxlint.cli.fixing import is_given
from jaxlint.finding import Finding
from jaxlint.project import ignores, writing
from jaxlint.project.files import SourceFile
from jaxlint.project.source import SourceError


def run(
    files: Sequence[SourceFile],
    look: Callable[[Mapping[str, SourceFile]], list[Finding]],
    paths: Sequence[str],
) -> Outcome:
    """Suppress findings in the files of a run, as far as those lie in the given paths.

    `look` finds what is to be reported, with some files as they have become.
    """
    findings = look({})
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    own = {file.path: file for file in files if is_given(file, paths)}
    left: list[Finding] = []
    changed: dict[str, SourceFile] = {}
    went_well = True
    for path, found in by_path.items():
        try:
            outcome = ignores.add(own[path], found) if path in own else ignores.Outcome(None, found)
            if outcome.data is not None:
                writing.write(own[path].absolute, outcome.data)
                changed[path] = SourceFile(path, own[path].absolute, outcome.data)
            left += outcome.left
        except (OSError, SourceError) as error:
            status.complain(f"{path}: cannot write: {getattr(error, 'strerror', None) or error}")
            left += found
            went_well = False
    suppressed = len(findings) - len(left)
    if suppressed:
        status.complain(f"suppressed {_count(suppressed, 'finding')} in {_count(len(changed), 'file')}")
    if any(finding.path in changed for finding in left):
        left = look(changed)  # what is left there has moved, and a comment with one code more is another one
    return Outcome(left, changed, went_well=went_well)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
