"""How far the run had come: steps, epochs and frames that the program itself prints, and the lines of its loops."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from jaxlint.triage.reading import Line

# `step 12`, `Epoch: 3/10`, `[it=40]`, and tqdm's ` 37/1000 [00:12<`.
_STEP = re.compile(
    r"(?i)\b(?P<kind>step|iter(?:ation)?|it|epoch|frame|batch|episode|update)\b"
    r"[ :=#\[\"']{1,4}(?P<number>\d{1,9})\b"
)
_TQDM = re.compile(r"\b(?P<number>\d{1,9})/\d+ \[\d+:\d\d")

_NUMBER = re.compile(r"[\d.]+(?:e[+-]?\d+)?")
_OF_XLA = re.compile(r"\.(?:cc|h|cpp):\d+\]")  # its allocator tells of every chunk
_FORMS = 64  # forms of a line that are told apart

WENT_ON = 3  # steps, or lines of a loop, after which a run has gone on


class Moment(NamedTuple):
    """When a line was written. `step` is the number that was printed last, None before the first; `reached` counts
    how many different ones had been printed, `turns` the lines that said again, with other figures, what one before
    them had said, as the lines of a loop do."""

    step: int | None = None
    reached: int = 0
    turns: int = 0


START = Moment()


class Mark(NamedTuple):
    """A moment, with how often each form of a line had come again until then."""

    moment: Moment
    forms: tuple[int, ...]


class Progress:
    """The moment of each writer. `kind` is the word a step is called by, "" where none was seen."""

    def __init__(self) -> None:
        self.kind = ""
        self.first: int | None = None
        self.last: int | None = None
        self._writers: dict[tuple[str, str], _Writer] = {}

    def feed(self, line: Line) -> int | None:
        """The step that was reached when the line was written, None before the first."""
        writer = self._writers.setdefault((line.file, line.rank), _Writer())
        text = line.text
        found = _STEP.search(text, 0, 400) or (_TQDM.search(text, 0, 400) if "/" in text else None)
        if found:
            kind = (found.groupdict().get("kind") or "iteration").lower()
            if not self.kind or kind == self.kind:
                self._reached(writer, int(found["number"]), kind)
        return writer.moment.step

    def printed(self, line: Line) -> None:
        """The line is one that the program itself has printed: a turn of a loop, if its words were there before.

        Rows of arrays are none, nor what XLA logs.
        """
        text = line.text[:200]
        if not text[:1].isalnum() or not any(map(str.isdigit, text)) or _OF_XLA.search(text):
            return
        writer = self._writers.setdefault((line.file, line.rank), _Writer())
        form = _NUMBER.sub("#", text)
        if form in writer.forms:
            writer.forms[form] += 1
            writer.moment = writer.moment._replace(turns=writer.moment.turns + 1)
        elif len(writer.forms) < _FORMS:
            writer.forms[form] = 0

    def now(self, file: str, rank: str) -> Moment:
        """How far a writer has come in what was read."""
        writer = self._writers.get((file, rank))
        return START if writer is None else writer.moment

    def went_on(self, file: str, rank: str, then: Moment) -> bool:
        """Whether a writer has gone on for steps, or lines of a loop, since a moment."""
        now = self.now(file, rank)
        return now.reached - then.reached >= WENT_ON or now.turns - then.turns >= WENT_ON

    def mark(self, file: str, rank: str) -> Mark:
        """To be asked later whether the writer has gone on."""
        writer = self._writers.get((file, rank), _Writer())
        return Mark(writer.moment, tuple(writer.forms.values()))

    def went_on_as_before(self, file: str, rank: str, mark: Mark) -> bool:
        """Whether a writer came to a further step, or went on with lines of a loop that had been there."""
        now = self.mark(file, rank)
        again = sum(after - before for before, after in zip(mark.forms, now.forms, strict=False))
        return now.moment.reached > mark.moment.reached or again >= WENT_ON

    def _reached(self, writer: _Writer, number: int, kind: str) -> None:
        self.kind = kind
        if writer.moment.step != number:
            writer.moment = writer.moment._replace(step=number, reached=writer.moment.reached + 1)
        self.first = number if self.first is None else min(self.first, number)
        self.last = number if self.last is None else max(self.last, number)


@dataclass(slots=True)
class _Writer:
    moment: Moment = START
    forms: dict[str, int] = field(default_factory=dict)
