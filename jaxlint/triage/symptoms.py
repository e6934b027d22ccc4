"""The symptom table: symptom → family → first check → rules. `jaxlint explain symptoms` prints it, and
`jaxlint triage` says by it what to do about what a log shows. The rows are in symptoms.json."""

from __future__ import annotations

import json
from importlib import resources
from typing import NamedTuple

from jaxlint.triage.families import Family


class Symptom(NamedTuple):
    """A row. `rules` find the cause in source; `remedy` is what to do once the check has confirmed it."""

    key: str
    text: str
    family: Family
    first_check: str
    remedy: str
    rules: tuple[str, ...]


def _load() -> dict[str, Symptom]:
    rows = json.loads(resources.files("jaxlint.triage").joinpath("symptoms.json").read_text("utf-8"))
    return {
        row["key"]: Symptom(
            row["key"],
            row["symptom"],
            Family(row["family"]),
            row["first_check"],
            row["remedy"],
            tuple(row["rules"]),
        )
        for row in rows
    }


SYMPTOMS = _load()
