"""A made-up engine, for tests of what surrounds it: every line that names a hazard is a finding."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jaxlint.finding import Confidence, Finding, Place, Related, Severity, Span
from jaxlint.project.files import SourceFile
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings
from jaxlint.project.source import read
from jaxlint.rule import Meta, Rule

_HAZARD = re.compile(r"hazard(\d{3})")
_SEVERITIES = {"JAX103": Severity.WARNING, "JAX301": Severity.ERROR, "JAX304": Severity.INFO}


def _rule(code: str, slug: str, status: str = "stable") -> Rule:
    rule = Rule()
    severity = _SEVERITIES.get(code, Severity.WARNING)
    rule.meta = Meta(code, slug, "0.1.0", status, severity, "none", "Made up.", f"{slug}.md")
    return rule


RULES = [
    _rule("JAX101", "scalar-to-filter-jit"),
    _rule("JAX103", "jit-in-loop"),
    _rule("JAX301", "missing-donation"),
    _rule("JAX304", "wide-vmap-reduce"),
    _rule("JAX306", "eager-init", "preview"),
]


def check(
    files: Sequence[SourceFile],
    project: Project,
    settings: Settings,
    rules: Sequence[Rule],
    *,
    jobs: int,
    cache: bool,
) -> list[Finding]:
    """`hazard103` in a line is a JAX103 there; what cannot be parsed is JAX001; hazard000 fails."""
    enabled = {rule.meta.code: rule for rule in rules}
    found: list[Finding] = []
    for file in files:
        source = read(file)
        if source.error is not None:
            found.append(source.error.finding(file.path))
        for number, line in enumerate(source.text.splitlines(), start=1):
            for hazard in _HAZARD.finditer(line):
                code = f"JAX{hazard[1]}"
                if code == "JAX000":
                    raise RuntimeError("made to\nfail")
                if code in enabled:
                    place = Place(file.path, Span(number, hazard.start() + 1, number, hazard.end() + 1))
                    found.append(_finding(enabled[code], place))
    return sorted(found, key=lambda finding: finding.place)


def _finding(rule: Rule, place: Place) -> Finding:
    meta = rule.meta
    first = Place(place.path, Span(1, 1, 1, 2))
    return Finding(
        meta.code,
        meta.slug,
        f"A {meta.slug}.",
        meta.severity,
        Confidence.MEDIUM,
        place,
        "f",
        (Related(first, "it begins"),),
    )
