"""SARIF 2.1.0, the format of code scanning services: a log with one run.

Paths are relative to the repository, so that a service can match them with its checkout. Columns count UTF-16
code units, as the log says. A file that could not be checked and a rule that failed are notifications about the
run, not results: they say nothing about the code.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from typing import Any, TextIO
from urllib.parse import quote

from jaxlint import __version__
from jaxlint.columns import to_utf16
from jaxlint.engine_codes import FAILURES
from jaxlint.finding import Applicability, Finding, Fix, Place
from jaxlint.identity import Identity
from jaxlint.report.json import record
from jaxlint.report.run import Run
from jaxlint.report.sarif_rules import LEVELS, descriptors

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_LINK = re.compile(r"\[.*\]\(", re.DOTALL)
_BRACKET = re.compile(r"[\[\]\\]")
_ROOT = "%SRCROOT%"
_EXITS = {0: "nothing to fail on", 1: "findings", 2: "something could not be checked"}


def write(run: Run, stream: TextIO) -> None:
    """Write the log."""
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(run)]}
    json.dump(log, stream, indent=2)
    stream.write("\n")


def _run(run: Run) -> dict[str, Any]:
    results = [finding for finding in run.findings if finding.code not in FAILURES]
    failures = [finding for finding in run.findings if finding.code in FAILURES]
    rules = descriptors(results)
    index = {rule["id"]: number for number, rule in enumerate(rules)}
    driver: dict[str, Any] = {"name": "jaxlint", "semanticVersion": __version__, "rules": rules}
    notifications = descriptors(failures)
    if notifications:
        driver["notifications"] = notifications
    return {
        "tool": {"driver": driver},
        "invocations": [_invocation(run, failures)],
        "originalUriBaseIds": {_ROOT: {"uri": f"{_file_uri(run.root).rstrip('/')}/"}},
        "columnKind": "utf16CodeUnits",
        "results": [
            _result(finding, identity, index[finding.code], run)
            for finding, identity in run.identities(results)
        ],
    }


def _invocation(run: Run, failures: Sequence[Finding]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "executionSuccessful": run.status in (0, 1),
        "exitCode": run.status,
        "exitCodeDescription": _EXITS.get(run.status, ""),
    }
    if failures:
        found["toolExecutionNotifications"] = [
            {
                "descriptor": {"id": failure.code},
                "level": "error",
                "message": _message(failure.message),
                "locations": [_location(failure.place, run)],
            }
            for failure in failures
        ]
    if run.problems:
        found["toolConfigurationNotifications"] = [
            {"level": "error", "message": _message(problem)} for problem in run.problems
        ]
    return found


def _result(finding: Finding, identity: Identity, index: int, run: Run) -> dict[str, Any]:
    location = _location(finding.place, run)
    if finding.symbol:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.symbol, "kind": "function"}]
    found: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": LEVELS[finding.severity],
        "message": _message(finding.message),
        "locations": [location],
        # Not `primaryLocationLineHash`: that one the upload to GitHub works out by itself.
        "partialFingerprints": {"jaxlint/v1": identity.digest},
        "properties": {"confidence": finding.confidence.value},
    }
    if finding.confirm:
        found["properties"]["confirm"] = record(finding)["confirm"]
    if finding.related:
        found["relatedLocations"] = [
            {"id": number, **_location(related.place, run), "message": _message(related.message)}
            for number, related in enumerate(finding.related, start=1)
        ]
    if finding.fix is not None and finding.fix.applicability is not Applicability.DISPLAY:
        found["fixes"] = [_fix(finding.fix, finding.path, run)]
    return found


def _message(text: str) -> dict[str, str]:
    """A message, whose code does not read as an embedded link: `fs[0](1)` has the form of one (SARIF, 3.11.6)."""
    return {"text": _BRACKET.sub(r"\\\g<0>", text) if _LINK.search(text) else text}


def _fix(fix: Fix, path: str, run: Run) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(Place(path, edit.span), run), "insertedContent": {"text": edit.text}}
        for edit in fix.edits
    ]
    return {
        "description": _message(f"{fix.title} ({fix.applicability.value})"),
        "artifactChanges": [{"artifactLocation": _artifact(path, run), "replacements": replacements}],
    }


def _location(place: Place, run: Run) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": _artifact(place.path, run),
            "region": _region(place, run),
        }
    }


def _artifact(path: str, run: Run) -> dict[str, Any]:
    relative = run.relative(path)
    if os.path.isabs(relative):
        return {"uri": _file_uri(relative)}
    return {"uri": _quoted(relative), "uriBaseId": _ROOT}


def _region(place: Place, run: Run) -> dict[str, int]:
    span = place.span
    return {
        "startLine": span.line,
        "startColumn": _column(place.path, span.line, span.column, run),
        "endLine": span.end_line,
        "endColumn": _column(place.path, span.end_line, span.end_column, run),
    }


def _column(path: str, line: int, column: int, run: Run) -> int:
    source = run.line(path, line)
    return column if source is None else to_utf16(source, column) + 1


def _file_uri(absolute: str) -> str:
    path = absolute.replace(os.sep, "/")
    return f"file://{'' if path.startswith('/') else '/'}{_quoted(path)}"


def _quoted(path: str) -> str:
    """A path as part of an URI; names that are no text are their bytes."""
    return quote(os.fsencode(path))
