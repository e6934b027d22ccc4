"""What a log says, with the line that says it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from jaxlint.triage.clock import Clock
from jaxlint.triage.reading import Line

QUOTED = 160  # characters of a line that are quoted
KEPT = 4  # places kept of one kind of evidence, beside the last


class Place(NamedTuple):
    """A line of a log."""

    file: str
    line: int


@dataclass(slots=True)
class Evidence:
    """One kind of thing a log says: how often, where, and the words of the first line.

    `symptom` is the key of a row of the symptom table; `text` says it with its figures.
    """

    symptom: str
    text: str
    quote: str = ""
    count: int = 0
    places: list[Place] = field(default_factory=list)
    last: Place | None = None
    proof: bool = True  # False: it hints at a family, and names none by itself
    when: float | None = None  # seconds, the earliest, where logs give dates
    firsts: dict[str, int] = field(default_factory=dict)  # the first line of each log

    def seen(self, line: Line, when: float | None) -> None:
        """It is there once more."""
        self.count += 1
        self.firsts.setdefault(line.file, line.number)
        if when is not None:
            self.when = when if self.when is None else min(self.when, when)
        self.last = Place(line.file, line.number)
        if len(self.places) < KEPT:
            self.places.append(self.last)


class Collected:
    """Evidence by kind, in the order it came up."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kinds: dict[tuple[str, str], Evidence] = {}

    def note(self, symptom: str, text: str, line: Line, *, key: str = "", proof: bool = True) -> Evidence:
        """The line says this. What has the same symptom and key (else text) is one kind."""
        kind = symptom, key or text
        known = self._kinds.get(kind)
        if known is None:
            if len(self._kinds) >= 200:  # texts with figures in them may be many
                kind = symptom, ""
            known = self._kinds.setdefault(kind, Evidence(symptom, text, quote(line), proof=proof))
        known.seen(line, self._clock.now(line.file))
        return known

    def all(self) -> list[Evidence]:
        return list(self._kinds.values())


def quote(line: Line) -> str:
    """A line, short enough to be shown."""
    text = " ".join(line.text.split())
    return text if len(text) <= QUOTED else text[: QUOTED - 1] + "…"
