"""What a run under observation showed (`child/program.py`), as the arms ask for it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from jaxlint.confirm.claim import Claim, Site

Run = Mapping[str, Any]
Event = Mapping[str, Any]


class Observed:
    """One run of a program, or the import of a module."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.compiles: Sequence[Event] = data["compiles"]
        self.traces: Sequence[Event] = data["traces"]
        self.printed: str = data["printed"]
        self.raised: Mapping[str, Any] | None = data["raised"]
        self.warnings: Sequence[Sequence[Any]] = data["warnings"]
        self.boundaries: Sequence[Mapping[str, Any]] = data.get("boundaries", ())
        self.exercised: Sequence[Mapping[str, Any]] = data.get("exercised", ())
        self.stopped: bool = bool(data.get("stopped"))
        self._runs = {(str(file), int(line)): runs for file, line, runs in data["lines"]}

    def runs(self, site: Site) -> Sequence[Run]:
        """The runs of a statement."""
        found: Sequence[Run] = self._runs.get((site.file, site.first), ())
        return found

    @property
    def watched(self) -> list[Run]:
        """The runs of all statements that were watched."""
        return [run for runs in self._runs.values() for run in runs]

    def every_run(self, claim: Claim) -> Iterator[tuple[Site, Run]]:
        """The runs of a claim's statements."""
        for site in claim.sites:
            for run in self.runs(site):
                yield site, run

    def calls(self, claim: Claim) -> int:
        """How often the claim's most frequent statement ran outside of any trace."""
        return max((sum(not run["tracing"] for run in self.runs(site)) for site in claim.sites), default=0)

    @cached_property
    def raised_at(self) -> str:
        """ "line 12: ValueError: ..." of what ended the program, "" if nothing did."""
        if self.raised is None:
            return ""
        said = " ".join(str(self.raised["message"]).split())[:160]
        where = self.last_user_line
        text = f"{self.raised['kind']}: {said}" if said else str(self.raised["kind"])
        return f"line {where}: {text}" if where else text

    @property
    def last_user_line(self) -> int:
        """The innermost line of the program that was running when it ended, 0 if unknown."""
        frames = self.raised["frames"] if self.raised is not None else []
        known = {file for file, _ in self._runs}
        return next(
            (int(line) for file, line, _ in reversed(frames) if os.path.realpath(str(file)) in known), 0
        )

    def raised_within(self, sites: Sequence[Site]) -> bool:
        """Whether what ended the program was raised under one of the statements."""
        frames = self.raised["frames"] if self.raised is not None else []
        return any(site.holds(str(file), int(line)) for file, line, _ in frames for site in sites)

    def not_reached(self, site: Site) -> str:
        """Why a statement did not run, as the reason of an unknown verdict (which says what to do about time)."""
        if self.raised is not None:
            return f"line {site.first} did not run: the program stopped at {self.raised_at}"
        if self.stopped:
            return f"line {site.first} did not run before the time was up"
        return f"line {site.first} did not run in this program"
