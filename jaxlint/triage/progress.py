"""How far the run had come: steps, epochs and frames that the program itself prints."""

from __future__ import annotations

import re

from jaxlint.triage.reading import Line

# `step 12`, `Epoch: 3/10`, `[it=40]`, and tqdm's ` 37/1000 [00:12<`.
_STEP = re.compile(
    r"(?i)\b(?P<kind>step|iter(?:ation)?|it|epoch|frame|batch|episode|update)\b"
    r"[ :=#\[\"']{1,4}(?P<number>\d{1,9})\b"
)
_TQDM = re.compile(r"\b(?P<number>\d{1,9})/\d+ \[\d+:\d\d")


class Progress:
    """The current step of each writer. `kind` is the word it is called by, "" where none was seen."""

    def __init__(self) -> None:
        self.kind = ""
        self.first: int | None = None
        self.last: int | None = None
        self.count = 0
        self._current: dict[tuple[str, str], int] = {}

    def feed(self, line: Line) -> int | None:
        """The step that was reached when the line was written, None before the first."""
        writer = line.file, line.rank
        text = line.text
        found = _STEP.search(text, 0, 400) or (_TQDM.search(text, 0, 400) if "/" in text else None)
        if found:
            kind = found.groupdict().get("kind") or "iteration"
            if not self.kind or kind.lower() == self.kind:
                self._reached(writer, int(found["number"]), kind.lower())
        return self._current.get(writer)

    def step(self, line: Line) -> int | None:
        """The step that its writer had reached."""
        return self._current.get((line.file, line.rank))

    def _reached(self, writer: tuple[str, str], number: int, kind: str) -> None:
        self.kind = kind
        self.count += 1
        self._current[writer] = number
        self.first = number if self.first is None else min(self.first, number)
        self.last = number if self.last is None else max(self.last, number)
