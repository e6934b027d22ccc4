"""Findings as JSON, for the cache: everything they hold, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaxlint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span


def to_json(findings: Iterable[Finding]) -> list[Any]:
    """Lists of plain values."""
    return [
        [
            finding.code,
            finding.slug,
            finding.message,
            finding.severity.value,
            finding.confidence.value,
            _place(finding.place),
            finding.symbol,
            [[_place(related.place), related.message] for related in finding.related],
            None if finding.fix is None else _fix(finding.fix),
        ]
        for finding in findings
    ]


def from_json(data: Any) -> list[Finding] | None:
    """The findings, or None where the data is of another shape."""
    try:
        return [_finding(*item) for item in data]
    except (TypeError, ValueError, KeyError, AttributeError):
        return None


def _place(place: Place) -> list[Any]:
    span = place.span
    return [place.path, span.line, span.column, span.end_line, span.end_column]


def _fix(fix: Fix) -> list[Any]:
    edits = [[e.span.line, e.span.column, e.span.end_line, e.span.end_column, e.text] for e in fix.edits]
    return [fix.title, fix.applicability.value, edits]


def _finding(
    code: str,
    slug: str,
    message: str,
    severity: str,
    confidence: str,
    place: list[Any],
    symbol: str,
    related: list[Any],
    fix: list[Any] | None,
) -> Finding:
    return Finding(
        code=str(code),
        slug=str(slug),
        message=str(message),
        severity=Severity(severity),
        confidence=Confidence(confidence),
        place=_to_place(place),
        symbol=str(symbol),
        related=tuple(Related(_to_place(where), str(text)) for where, text in related),
        fix=None if fix is None else _to_fix(*fix),
    )


def _to_place(data: list[Any]) -> Place:
    path, *numbers = data
    return Place(str(path), Span(*(int(n) for n in numbers)))


def _to_fix(title: str, applicability: str, edits: list[Any]) -> Fix:
    return Fix(
        str(title),
        Applicability(applicability),
        tuple(Edit(Span(*(int(n) for n in numbers)), str(text)) for *numbers, text in edits),
    )
