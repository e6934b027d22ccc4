"""The baselines of a run: each is read once, put to use, and spoken of or written at the end."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jaxlint.cli import status
from jaxlint.engine_codes import FAILURES
from jaxlint.finding import Finding
from jaxlint.project.files import SourceFile, shown
from jaxlint.project.settings import Settings

if TYPE_CHECKING:
    from jaxlint.project.baseline import Baseline
    from jaxlint.project.policy import Policy

_NAMED = 3  # stale entries that a note names


class Baselines:
    """What the settings of each project name; nothing is read where they name none."""

    def __init__(self, args: Namespace) -> None:
        self._update: bool = args.update_baseline
        self._by_file: dict[str, Baseline] = {}

    def begin(self) -> None:
        """Forget what was found: a look begins, perhaps after another one whose findings were fixed."""
        self._by_file.clear()

    def reported(self, file: SourceFile, standing: Sequence[Finding], policy: Policy) -> list[Finding]:
        """What is to be reported of the findings in a file. Raises BaselineError.

        Nothing but failures, where all that is found becomes the baseline.
        """
        baseline = self._of(policy.project.settings)
        if baseline is None:
            return [finding for finding in standing if policy.is_enough(finding)]
        new = baseline.unknown(file, standing, policy.judged(file), policy.is_enough)
        return [finding for finding in new if finding.code in FAILURES] if self._update else new

    def _of(self, settings: Settings) -> Baseline | None:
        path = settings.baseline
        if path and path not in self._by_file:
            from jaxlint.project import baseline

            self._by_file[path] = baseline.load(path, missing_is_empty=self._update)
        return self._by_file[path] if path else None

    def finish(self) -> bool:
        """Write the baselines, or say what of them has become useless. False where one cannot be written."""
        complete = True
        for baseline in self._by_file.values():
            complete = (self._write(baseline) if self._update else _note(baseline)) and complete
        return complete

    def _write(self, baseline: Baseline) -> bool:
        try:
            number = baseline.update()
        except OSError as error:
            status.complain(f"{shown(baseline.path)}: cannot write: {error.strerror}")
            return False
        status.complain(f"{shown(baseline.path)}: {_entries(number)} written")
        return True


def _note(baseline: Baseline) -> bool:
    stale = baseline.stale
    if stale:
        named = [f"{entry.path} {entry.code}" for entry in stale[:_NAMED]]
        more = f" and {len(stale) - _NAMED} more" if len(stale) > _NAMED else ""
        what = "is" if len(stale) == 1 else "are"
        status.complain(
            f"{shown(baseline.path)}: {_entries(len(stale))} {what} stale ({', '.join(named)}{more});"
            " --update-baseline removes what no longer occurs"
        )
    return True


def _entries(number: int) -> str:
    return "1 entry" if number == 1 else f"{number} entries"
