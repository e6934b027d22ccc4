"""A point of the checklist, and how it came out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from jaxlint.finding import Finding, Place, Severity


class Status(str, Enum):
    """How a point came out. What is neither shown nor refuted is said to be so."""

    PASS = "pass"
    FAIL = "fail"
    NOT_APPLICABLE = "not applicable"
    NOT_SHOWN = "not shown"


class Evidence(NamedTuple):
    """What a point rests on. `place` is `file:line`, or "" for what holds of all that was read."""

    text: str
    place: str = ""
    code: str = ""


@dataclass(slots=True)
class Point:
    """A point. `key` is its number in the checklist, or a letter for what belongs to the environment."""

    key: str
    title: str
    status: Status
    evidence: list[Evidence] = field(default_factory=list)
    advice: str = ""


def failures(findings: Iterable[Finding], codes: Iterable[str]) -> list[Evidence]:
    """The findings of these rules that fail a point: warnings and errors."""
    wanted = frozenset(codes)
    return [
        Evidence(finding.message, place(finding.place), finding.code)
        for finding in findings
        if finding.code in wanted and finding.severity is not Severity.INFO
    ]


def remarks(findings: Iterable[Finding], codes: Iterable[str]) -> list[Evidence]:
    """The findings of these rules that are advice."""
    wanted = frozenset(codes)
    return [
        Evidence(finding.message, place(finding.place), finding.code)
        for finding in findings
        if finding.code in wanted and finding.severity is Severity.INFO
    ]


def place(of: Place) -> str:
    """`file:line`."""
    return f"{of.path}:{of.span.line}"
