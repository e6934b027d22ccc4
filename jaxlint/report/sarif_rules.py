"""What SARIF wants to know of each rule, from the rule's own page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jaxlint import page, registry
from jaxlint.engine_codes import ENGINE_CODES, EngineCode
from jaxlint.finding import Confidence, Finding, Severity
from jaxlint.rule import Meta, RuleError

# What GitHub calls the severity of a finding that is no weakness in security.
_PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def descriptors(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """The rules that findings come from, by code."""
    confidence: dict[str, Confidence] = {}
    slugs: dict[str, Finding] = {}
    for finding in findings:
        slugs.setdefault(finding.code, finding)
        confidence[finding.code] = max(
            finding.confidence, confidence.get(finding.code, Confidence.LOW), key=lambda each: each.rank
        )
    known: dict[str, Meta | EngineCode] = {code.code: code for code in ENGINE_CODES}
    if not slugs.keys() <= known.keys():
        known |= {rule.meta.code: rule.meta for rule in registry.listed()}
    return [_descriptor(known[code], confidence[code]) for code in sorted(slugs)]


def _descriptor(rule: Meta | EngineCode, confidence: Confidence) -> dict[str, Any]:
    """`confidence` is the highest among its findings: SARIF knows the precision of a rule alone."""
    what, text, tag = _description(rule)
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.slug.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": what},
        "help": {"text": rule.summary, "markdown": text},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {
            "precision": confidence.value,
            "problem.severity": _PROBLEMS[rule.severity],
            "tags": ["jax", tag],
        },
    }


def _description(rule: Meta | EngineCode) -> tuple[str, str, str]:
    """What a rule finds, its whole page, and the group it belongs to."""
    if isinstance(rule, EngineCode):
        return rule.summary, rule.summary, "jaxlint"
    group = Path(rule.page).parent.name.replace("_", "-")
    try:
        read = page.read(rule.page)
    except RuleError:  # a page that is broken below its front matter takes no report away
        return rule.summary, rule.summary, group
    body = read.body(lambda block: f"```{block.language}").partition("\n")[2].strip()
    what = read.sections.get("What it does", "").partition("\n\n")[0]
    return " ".join(what.split()) or rule.summary, body, group
