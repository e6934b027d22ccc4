"""Tracebacks: where in the user's program an exception came from, and the chain of those it led to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from jaxlint.triage.evidence import Place, quote
from jaxlint.triage.reading import Line

_BEGIN = re.compile(r"Traceback \(most recent call last\)")
_FRAME = re.compile(
    r'File (?:"(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>.+))?'
    r"|(?P<note>~?[^\s\"]+\.py):(?P<number>\d+),? (?:in )?(?P<within>[^(]+)?)"
)
_CELL = re.compile(r"Cell In\[(?P<cell>\d+)\], line (?P<line>\d+)")
_RAISED = re.compile(
    r"^(?P<type>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Exhausted|Interrupt))(?:: ?(?P<message>.*))?$"
)
_CHAINED = (
    "The above exception was the direct cause of the following exception",
    "During handling of the above exception, another exception occurred",
)
_FRAMES = 300
_OPEN = 500  # lines after which a traceback that never says what was raised is given up


@dataclass(slots=True)
class Raised:
    """An exception that was printed, the innermost line of the user's own code, and what it came of."""

    type: str
    message: str
    place: Place
    quote: str
    at: str = ""  # file:line (function)
    cause: Raised | None = None

    def chain(self) -> list[Raised]:
        """This one, what it came of, and so on."""
        found: list[Raised] = [self]
        while found[-1].cause is not None and len(found) < 50:
            found.append(found[-1].cause)
        return found


@dataclass(slots=True)
class _Open:
    frames: list[str] = field(default_factory=list)
    lines: int = 0


class Tracebacks:
    """Reads tracebacks, of several ranks at once. `last` is the latest exception of each writer."""

    def __init__(self) -> None:
        self.raised: list[Raised] = []
        self.count = 0
        self._open: dict[tuple[str, str], _Open] = {}
        self._before: dict[tuple[str, str], Raised] = {}
        self._chained: dict[tuple[str, str], bool] = {}

    def feed(self, line: Line) -> Raised | None:
        """The exception, where the line says what was raised."""
        text = line.text
        writer = line.file, line.rank
        if text.startswith(("The above", "During handling")) and text.startswith(_CHAINED):
            self._chained[writer] = True
            return None
        if "Traceback (most" in text and _BEGIN.search(text):
            self._open[writer] = _Open()
            return None
        open_ = self._open.get(writer)
        if open_ is None:
            # A notebook prints the frames under a line of its own, and some loggers only the last line.
            if "RESOURCE_EXHAUSTED" not in text:
                return None
            open_ = _Open()
        frame = _FRAME.search(text, 0, 2000) if "File " in text else None
        if frame or "Cell In[" in text:
            self._frame(open_, text, frame)
            return None
        raised = _RAISED.match(text)
        if raised is None:
            open_.lines += 1
            if open_.lines > _OPEN:
                self._open.pop(writer, None)
            return None
        return self._raise(line, writer, raised, open_)

    @staticmethod
    def _frame(open_: _Open, text: str, found: re.Match[str] | None) -> None:
        if found is None:
            cell = _CELL.search(text)
            shown = f"cell {cell['cell']}, line {cell['line']}" if cell else ""
            own = bool(cell)
        else:
            name = found["file"] or found["note"]
            function = (found["function"] or found["within"] or "").strip()
            shown = f"{name}:{found['line'] or found['number']}" + (f" ({function})" if function else "")
            own = not any(
                part in name for part in ("site-packages", "dist-packages", "/lib/python", "<frozen")
            )
        if own and shown and len(open_.frames) < _FRAMES:
            open_.frames.append(shown)

    def _raise(self, line: Line, writer: tuple[str, str], found: re.Match[str], open_: _Open) -> Raised:
        raised = Raised(
            type=found["type"],
            message=(found["message"] or "")[:500],
            place=Place(line.file, line.number),
            quote=quote(line),
            at=open_.frames[-1] if open_.frames else "",
        )
        if self._chained.pop(writer, False):
            raised.cause = self._before.get(writer)
        self._before[writer] = raised
        self._open.pop(writer, None)
        self.count += 1
        if len(self.raised) < 1000:
            self.raised.append(raised)
        else:
            self.raised[-1] = raised
        return raised
