"""The report for programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from jaxlint.triage.diagnosis import Diagnosis
from jaxlint.triage.evidence import Evidence, Place
from jaxlint.triage.retraces import Boundary
from jaxlint.triage.scan import Scan
from jaxlint.triage.series import Growth, Series
from jaxlint.triage.symptoms import SYMPTOMS
from jaxlint.triage.text_report import headline


def as_json(diagnosis: Diagnosis, scan: Scan) -> str:
    """One object. Memory is in bytes, time in seconds; lines count from 1."""
    table: dict[str, Any] = {
        "family": diagnosis.family.value if diagnosis.family else None,
        "families": [family.value for family in diagnosis.families],
        "summary": headline(diagnosis),
        "evidence": [_evidence(evidence) for evidence in diagnosis.evidence],
        "boundaries": [_boundary(boundary) for boundary in diagnosis.boundaries],
        "memory": [_series(series, growth) for series, growth in diagnosis.series],
        "orphans": [
            {"pid": p.pid, "name": p.name, "device_bytes": p.on_gpu, "parent": p.parent}
            for p in diagnosis.orphans
        ],
        "out_of_memory_at": diagnosis.at or None,
        "went_on_after_out_of_memory": diagnosis.survived,
        "progress": {
            "kind": scan.progress.kind or None,
            "first": scan.progress.first,
            "last": scan.progress.last,
        },
        "notes": diagnosis.notes,
        "next": diagnosis.steps,
        "rules": diagnosis.rules,
        "logs": [{"path": path, "lines": number} for path, number in scan.lines.items()],
        "ranks": sorted(scan.ranks, key=lambda rank: (len(rank), rank)),
    }
    return json.dumps(table, indent=2)


def _evidence(evidence: Evidence) -> dict[str, Any]:
    places = list(evidence.places)
    if evidence.last is not None and evidence.last not in places:
        places.append(evidence.last)
    return {
        "symptom": evidence.symptom,
        "family": SYMPTOMS[evidence.symptom].family.value,
        "proof": evidence.proof,
        "text": evidence.text,
        "quote": evidence.quote or None,
        "count": evidence.count,
        "places": [_place(place) for place in places],
    }


def _place(place: Place) -> dict[str, Any]:
    return {"path": place.file, "line": place.line}


def _boundary(boundary: Boundary) -> dict[str, Any]:
    table = asdict(boundary)
    table["reason"] = boundary.reason.name.lower()
    table["places"] = [_place(place) for place in boundary.places]
    table["changes"] = [change._asdict() for change in boundary.changes]
    return table


def _series(series: Series, growth: Growth | None) -> dict[str, Any]:
    return {
        "name": series.name,
        "device": series.on_device,
        "capacity": series.capacity or None,
        "samples": [
            {"line": s.place.line, "bytes": s.used, "seconds": s.when, "step": s.step} for s in series.samples
        ],
        "growth": asdict(growth) if growth else None,
    }
