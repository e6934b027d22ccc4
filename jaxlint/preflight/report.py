"""The checklist as text, Markdown or JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from jaxlint.preflight.points import Evidence, Point, Status

_MARKS = {Status.PASS: "pass", Status.FAIL: "FAIL", Status.NOT_APPLICABLE: "n/a", Status.NOT_SHOWN: "?"}
_SHOWN = 8  # pieces of evidence of a point; JSON has them all


def text(points: Sequence[Point]) -> str:
    """For a terminal."""
    lines = []
    for point in points:
        lines.append(f"{_MARKS[point.status]:>4}  {point.key}. {point.title}")
        lines += [f"        {_line(evidence)}" for evidence in point.evidence[:_SHOWN]]
        lines += _more(point, "        ")
        if point.status in (Status.FAIL, Status.NOT_SHOWN):
            lines.append(f"        do: {point.advice}")
    return "\n".join([*lines, "", _summary(points)])


def markdown(points: Sequence[Point]) -> str:
    """For an issue or a pull request."""
    lines = ["# Pre-flight", "", _summary(points), ""]
    for point in points:
        box = "x" if point.status is Status.PASS else " "
        lines.append(f"- [{box}] **{point.key}. {point.title}**: {point.status.value}")
        lines += [f"    - {_line(evidence)}" for evidence in point.evidence[:_SHOWN]]
        lines += _more(point, "    - ")
        if point.status in (Status.FAIL, Status.NOT_SHOWN):
            lines.append(f"    - do: {point.advice}")
    return "\n".join(lines)


def as_json(points: Sequence[Point]) -> str:
    """For programs: an array of points, all evidence in it."""
    return json.dumps(
        [
            {
                "point": point.key,
                "title": point.title,
                "status": point.status.value,
                "evidence": [
                    {"text": e.text, "place": e.place or None, "code": e.code or None} for e in point.evidence
                ],
                "advice": point.advice,
            }
            for point in points
        ],
        indent=2,
    )


def _line(evidence: Evidence) -> str:
    at = f"{evidence.place}: " if evidence.place else ""
    code = f"{evidence.code} " if evidence.code else ""
    return f"{at}{code}{evidence.text}"


def _more(point: Point, indent: str) -> list[str]:
    rest = len(point.evidence) - _SHOWN
    return [f"{indent}and {rest} more"] if rest > 0 else []


def _summary(points: Sequence[Point]) -> str:
    counts = Counter(point.status for point in points)
    return ", ".join(f"{counts[status]} {status.value}" for status in Status if counts[status])
