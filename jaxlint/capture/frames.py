"""Where in Python an instruction comes from: its stack of frames, innermost first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jaxlint.capture import wire

_DEEPEST = 200

# Files that are nobody's own code: what a person can change lies outside of them.
_LIBRARY = (
    "site-packages/",
    "dist-packages/",
    "/jax/_src/",
    "/lib/python3",
    "<frozen ",
    "<string>",
    "/runfiles/",
)


class Frame(NamedTuple):
    """A line of Python. `line` counts from 1, and is 0 where only the file is known."""

    file: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def own(self) -> bool:
        """Whether it is outside of installed libraries."""
        path = self.file.replace("\\", "/")
        return not any(part in path for part in _LIBRARY)


def user_frames(frames: Sequence[Frame]) -> tuple[Frame, ...]:
    """The frames of the program itself, innermost first; the innermost of all where there is none."""
    return tuple(frame for frame in frames if frame.own) or tuple(frames[:1])


class StackFrames:
    """The StackFrameIndexProto of a module: four tables that refer to each other by numbers from 1."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.functions: list[str] = []
        self.locations: list[tuple[int, int, int]] = []  # file, function, line
        self.frames: list[tuple[int, int]] = []  # location, parent frame

    def read(self, data: wire.Data, start: int, end: int) -> None:
        """Take in the message. Raises wire.Damaged."""
        for number, kind, value, stop in wire.fields(data, start, end):
            if kind != wire.BYTES:
                continue
            if number == 1:
                self.files.append(wire.text(data, value, stop))
            elif number == 2:
                self.functions.append(wire.text(data, value, stop))
            elif number == 3:
                entry = wire.numbers(data, value, stop)
                self.locations.append((entry.get(1, 0), entry.get(2, 0), entry.get(3, 0)))
            elif number == 4:
                entry = wire.numbers(data, value, stop)
                self.frames.append((entry.get(1, 0), entry.get(2, 0)))

    def stack(self, number: int) -> tuple[Frame, ...]:
        """The frames from the given one outwards. A number that leads nowhere ends it."""
        found: list[Frame] = []
        seen: set[int] = set()
        while 0 < number <= len(self.frames) and number not in seen and len(found) < _DEEPEST:
            seen.add(number)
            location, number = self.frames[number - 1]
            if not 0 < location <= len(self.locations):
                break
            file, function, line = self.locations[location - 1]
            if 0 < file <= len(self.files):
                name = self.functions[function - 1] if 0 < function <= len(self.functions) else ""
                found.append(Frame(self.files[file - 1], line, name))
        return tuple(found)
