"""JUnit's XML: each finding is a test case that failed, each file with findings a suite.

It is all ASCII, so that it says the same whatever encoding it is written in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO
from xml.sax.saxutils import escape, quoteattr

from jaxlint.engine_codes import FAILURES
from jaxlint.finding import Finding
from jaxlint.report.evidence import verdicts
from jaxlint.report.run import Run

# Characters that no XML document may hold, not even escaped.
_UNUSABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(run: Run, stream: TextIO) -> None:
    """Write the document. A run without findings is one test that passed: hosts take none at all for a mistake."""
    by_path: dict[str, list[Finding]] = {}
    for finding in run.findings:
        by_path.setdefault(finding.path, []).append(finding)
    suites = [_suite(run.relative(path), findings) for path, findings in by_path.items()]
    if run.problems or not suites:
        suites.append(_suite_of_run(run))
    problems = len(run.problems)
    total = _counts(run.findings, problems) if run.findings or problems else _PASSED
    lines = _tag("testsuites", {"name": "jaxlint", **total}, [line for suite in suites for line in suite])
    text = "\n".join(('<?xml version="1.0" encoding="UTF-8"?>', *lines, ""))
    stream.write(text.encode("ascii", "xmlcharrefreplace").decode("ascii"))


_PASSED: dict[str, object] = {"tests": 1, "failures": 0, "errors": 0, "time": 0}


def _counts(findings: Sequence[Finding], problems: int = 0) -> dict[str, object]:
    """Failures are what was found; an error is what kept us from looking."""
    errors = sum(finding.code in FAILURES for finding in findings)
    return {
        "tests": len(findings) + problems,
        "failures": len(findings) - errors,
        "errors": errors + problems,
        "time": 0,
    }


def _suite_of_run(run: Run) -> list[str]:
    """What belongs to no file: that nothing was found, or what could not be looked at."""
    own = {"classname": "jaxlint", "time": 0}
    if not run.problems:
        passed = _tag("testcase", {"name": "no findings", **own}, [])
        return _tag("testsuite", {"name": "jaxlint", **_PASSED}, passed)
    cases = [
        line
        for problem in run.problems
        for line in _tag("testcase", {"name": problem, **own}, _tag("error", {"message": problem}, []))
    ]
    return _tag("testsuite", {"name": "jaxlint", **_counts([], len(run.problems))}, cases)


def _suite(path: str, findings: Sequence[Finding]) -> list[str]:
    cases = [line for finding in findings for line in _case(path, finding)]
    return _tag("testsuite", {"name": path, **_counts(findings)}, cases)


def _case(path: str, finding: Finding) -> list[str]:
    span = finding.span
    message = " ".join(finding.message.split())
    kind = "error" if finding.code in FAILURES else "failure"
    text = [f"{path}:{span.line}:{span.column}: {finding.code} {message}{verdicts(finding)}"]
    text += [
        f"{related.place.path}:{related.place.span.line}: {' '.join(related.message.split())}"
        for related in finding.related
    ]
    attributes = {
        "message": message,
        "type": f"{finding.severity.value} ({finding.confidence.value} confidence)",
    }
    opening, *_, closing = _tag(kind, attributes, [""])
    name = f"{finding.code} {finding.slug} at line {span.line}, column {span.column}"
    body = escape(_usable("\n".join(text)))
    return _tag("testcase", {"name": name, "classname": path, "time": 0}, [f"{opening}{body}{closing}"])


def _tag(name: str, attributes: Mapping[str, object], content: Iterable[str]) -> list[str]:
    listed = "".join(f" {key}={quoteattr(_usable(str(value)))}" for key, value in attributes.items())
    inner = list(content)
    return [f"<{name}{listed}>", *inner, f"</{name}>"] if inner else [f"<{name}{listed}/>"]


def _usable(text: str) -> str:
    return _UNUSABLE.sub("\N{REPLACEMENT CHARACTER}", text)
