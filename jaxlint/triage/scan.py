"""One pass over the logs: each line is shown to everyone who may know what it means."""

from __future__ import annotations

from collections.abc import Iterable

from jaxlint.triage.allocator import Allocator
from jaxlint.triage.cache_misses import CacheMisses
from jaxlint.triage.clock import Clock
from jaxlint.triage.compile_log import CompileLog
from jaxlint.triage.evidence import Collected, Place
from jaxlint.triage.exhausted import Exhausted
from jaxlint.triage.progress import Mark, Progress
from jaxlint.triage.reading import Line, lines
from jaxlint.triage.samples import Samples
from jaxlint.triage.told import Told
from jaxlint.triage.tracebacks import Tracebacks

_WRITERS = 4096  # logs and ranks that are told apart


class Scan:
    """All that was found in some logs. Its size is bounded, whatever theirs is."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.collected = Collected(self.clock)
        self.compiles = CompileLog()
        self.misses = CacheMisses()
        self.tracebacks = Tracebacks()
        self.allocator = Allocator(self.collected)
        self.exhausted = Exhausted(self.collected, self.allocator.pinned)
        self.told = Told(self.collected)
        self.samples = Samples()
        self.progress = Progress()
        self.out_of_memory: dict[tuple[str, str], Mark] = {}  # of each writer, the last time
        self.lines: dict[str, int] = {}
        self.ranks: set[str] = set()
        self.cut_off: list[Line] = []  # the last line of each log that ends within a line
        self.last_was_compile: dict[str, bool] = {}

    def read(self, path: str) -> None:
        """Read a log to its end. Raises LogError."""
        last = None
        for line in lines(path):
            self.feed(line)
            last = line
        if last is not None and not last.whole:
            self.cut_off.append(last)

    def feed(self, line: Line) -> None:
        """Read one line."""
        self.lines[line.file] = line.number
        if line.rank and len(self.ranks) < _WRITERS:
            self.ranks.add(line.rank)
        self.clock.feed(line)
        # jax's own lines are long and many, and mean nothing to anyone else.
        now = self.progress.now(line.file, line.rank)
        if self.misses.feed(line, now) or self.compiles.feed(line, now):
            self.last_was_compile[line.file] = True
            return
        raised = self.tracebacks.feed(line)
        if raised is not None:
            self.exhausted.raised(raised, line)
        step = self.progress.feed(line)
        out = self.exhausted.feed(line) | self.allocator.feed(line)
        if out and len(self.out_of_memory) < _WRITERS:
            self.out_of_memory[line.file, line.rank] = self.progress.mark(line.file, line.rank)
        if not self.samples.feed(line, step) and not self.told.feed(line, now) and raised is None and not out:
            self.progress.printed(line)
        if line.text.strip():
            self.last_was_compile[line.file] = False

    def survived(self) -> bool:
        """Whether every process that a device had no memory for has gone on."""
        marks = self.out_of_memory.items()
        return bool(marks) and all(self.progress.went_on_as_before(*writer, mark) for writer, mark in marks)

    @property
    def place_of_end(self) -> list[Place]:
        """The last line of each log."""
        return [Place(file, number) for file, number in self.lines.items()]


def scan(paths: Iterable[str]) -> Scan:
    """Read logs one after the other. Raises LogError."""
    found = Scan()
    for path in paths:
        found.read(path)
    return found
