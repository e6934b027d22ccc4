"""The page of `jaxlint explain symptoms`, in Markdown: what a run shows, and what is behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jaxlint.triage.families import MEANINGS, Family
from jaxlint.triage.remedies import HOMES, REMEDIES, VARIABLES
from jaxlint.triage.symptoms import SYMPTOMS

_ORDER = (
    "Debug in this order: allocation (is it preallocation?), location (device or host?), shapes (does it "
    "compile again?), then sharding."
)


def page() -> str:
    """The whole page."""
    parts = ["# Symptoms", _ORDER, *(_family(family) for family in Family)]
    parts += [
        "## What lowers device memory\n\n" + _table(("do", "saves", "costs", "rules"), _remedies()),
        "## What lives where\n\n" + _table(("", "host RAM", "device memory"), HOMES),
        "## Variables of the allocator\n\n" + _table(("variable", "effect", "use"), _variables()),
    ]
    return "\n\n".join(parts) + "\n"


def _family(family: Family) -> str:
    rows = [
        (row.text, row.first_check, row.remedy, ", ".join(row.rules))
        for row in SYMPTOMS.values()
        if row.family is family
    ]
    title = "Nothing wrong" if family is Family.NONE else str(family)[0].upper() + str(family)[1:]
    head = ("symptom", "first check", "then", "rules")
    return f"## {title}\n\n{MEANINGS[family][0].upper()}{MEANINGS[family][1:]}.\n\n{_table(head, rows)}"


def _remedies() -> Iterable[Sequence[str]]:
    return [(r.name, r.saves, r.costs, ", ".join(r.rules)) for r in REMEDIES]


def _variables() -> Iterable[Sequence[str]]:
    return [(f"`{v.name}`", v.effect, v.use) for v in VARIABLES]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
