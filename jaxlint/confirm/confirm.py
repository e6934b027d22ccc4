"""`--confirm`: from findings to findings with verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlint.confirm.options import Options
from jaxlint.confirm.verdict import unknown
from jaxlint.finding import Finding
from jaxlint.project.workspace import Part
from jaxlint.record import replace


def confirm(findings: Sequence[Finding], part: Part, options: Options) -> list[Finding]:
    """The findings, each with a verdict for every target."""
    verdicts = tuple(unknown(target, "no measurement for this rule") for target in options.targets)
    return [replace(finding, confirm=verdicts) for finding in findings]
