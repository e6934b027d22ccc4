"""A JSON array of findings, printed even when it is empty."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TextIO

from jaxlint.finding import Finding, Fix, Related, Span
from jaxlint.report.run import Run

if TYPE_CHECKING:
    from jaxlint.confirm.verdict import Arm, Verdict


def write(run: Run, stream: TextIO) -> None:
    """Write the array, one finding a line."""
    write_array([record(finding) for finding in run.findings], stream)


def write_array(records: list[dict[str, Any]], stream: TextIO) -> None:
    """Write an array of records, one a line."""
    stream.write(
        "[" + ",".join(f"\n  {json.dumps(item)}" for item in records) + ("\n]\n" if records else "]\n")
    )


def record(finding: Finding) -> dict[str, Any]:
    """A finding as JSON. Lines and columns count from 1, in code points; ends are exclusive."""
    return {
        "code": finding.code,
        "slug": finding.slug,
        "message": finding.message,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "path": finding.path,
        **_ends(finding.span),
        "symbol": finding.symbol,
        "related": [_related(place) for place in finding.related],
        "fix": None if finding.fix is None else _fix(finding.fix),
        "confirm": [_verdict(verdict) for verdict in finding.confirm] or None,
    }


def _ends(span: Span) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": span.line, "column": span.column},
        "end": {"line": span.end_line, "column": span.end_column},
    }


def _related(related: Related) -> dict[str, Any]:
    return {"path": related.place.path, **_ends(related.place.span), "message": related.message}


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "title": fix.title,
        "applicability": fix.applicability.value,
        "edits": [{**_ends(edit.span), "text": edit.text} for edit in fix.edits],
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "verdict": verdict.outcome.value,
        "target": verdict.target,
        "reason": verdict.reason,
        "arms": [_arm(arm) for arm in verdict.arms],
        "results_equal": verdict.results_equal,
    }


def _arm(arm: Arm) -> dict[str, Any]:
    """Sizes in bytes; `total_bytes` is argument + output - alias + temp, `own_bytes` temp + output."""
    return {
        "name": arm.name,
        "argument_bytes": arm.argument_bytes,
        "output_bytes": arm.output_bytes,
        "alias_bytes": arm.alias_bytes,
        "temp_bytes": arm.temp_bytes,
        "total_bytes": arm.total_bytes,
        "own_bytes": arm.own_bytes,
        "constant_bytes": arm.constant_bytes,
        "traces": arm.traces,
        "compiles": arm.compiles,
        "seconds": arm.seconds,
        "peak": list(arm.peak),
    }
