"""What a rule reports: plain frozen data, so that it survives pickling, the cache and every output format.

Lines and columns count from 1, columns in code points, ends are exclusive. Other units (UTF-8 bytes for
`ast`, UTF-16 for editors) are converted in `jaxlint.columns` only.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from jaxlint.record import record

if TYPE_CHECKING:
    from jaxlint.confirm.verdict import Verdict


class Severity(str, Enum):
    """How bad: an error is a wrong result, a crash or certain growth; a warning costs time or memory."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        return _SEVERITY_RANK[self]


class Confidence(str, Enum):
    """How sure: high is proven from the source, medium rests on one assumption, low on several."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        return _CONFIDENCE_RANK[self]


_SEVERITY_RANK = {Severity.INFO: 0, Severity.WARNING: 1, Severity.ERROR: 2}
_CONFIDENCE_RANK = {Confidence.LOW: 0, Confidence.MEDIUM: 1, Confidence.HIGH: 2}


class Applicability(str, Enum):
    """Whether a fix may be applied unasked (safe), when asked (unsafe) or never (display)."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


class Span(NamedTuple):
    """A stretch of source: 1-based, columns in code points, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Place(NamedTuple):
    """A span in a file."""

    path: str
    span: Span

    def contains(self, other: Place) -> bool:
        """Whether the other place lies within this one."""
        starts = (self.span.line, self.span.column) <= (other.span.line, other.span.column)
        ends = (other.span.end_line, other.span.end_column) <= (self.span.end_line, self.span.end_column)
        return self.path == other.path and starts and ends


@record
class Related:
    """Another place that explains the finding ("jitted here", "this varies")."""

    place: Place
    message: str


@record
class Edit:
    """Replace the text of a span of the original source. An empty span inserts."""

    span: Span
    text: str


@record
class Fix:
    """A change to the finding's own file."""

    title: str
    applicability: Applicability
    edits: tuple[Edit, ...]

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line that it changes; one that it only reaches the beginning of is none."""
        ends = [
            span.end_line - 1 if span.end_column == 1 and span.end_line > span.line else span.end_line
            for span in (edit.span for edit in self.edits)
        ]
        return min(edit.span.line for edit in self.edits), max(ends)


@record
class Finding:
    """One claim about one place. `symbol` is the qualified name of the enclosing function, or "".

    `confirm` is what became of the claim, one verdict a target; empty where nobody asked.
    """

    code: str
    slug: str
    message: str
    severity: Severity
    confidence: Confidence
    place: Place
    symbol: str = ""
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    confirm: tuple[Verdict, ...] = ()

    @property
    def path(self) -> str:
        return self.place.path

    @property
    def span(self) -> Span:
        return self.place.span
