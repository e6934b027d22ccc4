"""The runs of one program: as written, as fixed, and what is asked for beside."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from jaxlint.confirm.arms.memory import Threshold
from jaxlint.confirm.chips import CUDA
from jaxlint.confirm.claim import Claim
from jaxlint.confirm.functions import Uses
from jaxlint.confirm.observing import Observer, Program
from jaxlint.confirm.options import Options
from jaxlint.confirm.proof import Fixed, Kept, fixed_program
from jaxlint.confirm.targets import Target
from jaxlint.fix.apply import apply_fixes
from jaxlint.recording.history import History
from jaxlint.sources import Sources

_EXACT = ("JAX311",)  # what is counted does not depend on the kernels that XLA chooses


class Runs:
    """Runs a program for targets that share a worker. `uses` says how, where it is a module."""

    def __init__(
        self,
        observer: Observer,
        options: Options,
        targets: Sequence[Target],
        file: str,
        sources: Sources,
        history: History | None = None,
    ) -> None:
        """`file` is the program's, absolute. Raises SourceError where it cannot be read."""
        self.targets = targets
        self.options = options
        self._observer = observer
        self._file = file
        self._sources = sources
        self._source = sources.parsed(file)
        self._history = history
        self.uses = self._used(())

    def use(self, claims: Sequence[Claim]) -> None:
        """From now on use what these claims need, where the file is a module."""
        self.uses = self._used(claims)

    def _used(self, claims: Sequence[Claim]) -> Uses:
        return Uses(claims, self._file, self._source.tree, self.options.inputs, self._history)

    def run(self, claims: Sequence[Claim], **how: Any) -> Program:
        """The program as written, with the statements of claims watched. Raises Unanswered and Raised."""
        sites = [site for one in claims for site in one.sites]
        how = {**self.uses.how, **how}
        return self._observer.program(self._file, self._source.text.encode(), sites, **how)

    def fixed(
        self, one: Claim, keep: Sequence[Kept] = (), *, hold: bool = False, peaks: bool = False
    ) -> AbstractContextManager[Program | str]:
        """The program with the fix of a claim's finding, or why it cannot be run.

        With `peaks` the claim's statement is watched for what it holds in passing.
        """
        file = one.site.file
        source = self._sources.parsed(file)
        assert one.finding.fix is not None
        fixed = Fixed(file, apply_fixes(source.text, [one.finding.fix]), source.encoding)
        how = {**self.uses.how, "hold": hold, "peaks": peaks}
        sites = (one.site,) if peaks else ()
        if peaks and fixed.text.count("\n") != source.text.count("\n"):
            return nullcontext("the fix moves its lines")
        return fixed_program(self._observer, self._file, self._source, fixed, how, keep, sites)

    @property
    def least(self) -> Threshold:
        """From when on memory counts that a program takes here."""
        return Threshold(self.options.min_bytes, self.options.min_share)

    def threshold(self, target: Target, one: Claim, written: Program) -> Threshold:
        """From when on a saving counts. Where sizes are made up, for annotations, only its share says something."""
        if self.uses.are_made_up(one, written.seen):
            return Threshold(1, self.options.min_share)
        if target.kind == CUDA and one.finding.code not in _EXACT:
            return Threshold(self.options.min_bytes_cuda, self.options.min_share, noise=True)
        return self.least
