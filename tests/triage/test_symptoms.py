"""The symptom table: its rows lead to rules that exist, and triage gives no advice that is not in it."""

from __future__ import annotations

import pytest

from jaxlint import registry
from jaxlint.cli import main
from jaxlint.triage.families import MEANINGS, Family
from jaxlint.triage.remedies import REMEDIES
from jaxlint.triage.signs import SIGNS
from jaxlint.triage.symptoms import SYMPTOMS


def test_every_rule_of_the_table_exists() -> None:
    codes = {rule.meta.code for rule in registry.load()}

    assert {code for row in (*SYMPTOMS.values(), *REMEDIES) for code in row.rules} <= codes


def test_every_row_says_what_to_check_first_and_what_then() -> None:
    assert [key for key, row in SYMPTOMS.items() if not (row.text and row.first_check and row.remedy)] == []


def test_every_family_has_rows_and_a_meaning() -> None:
    assert {row.family for row in SYMPTOMS.values()} == set(Family) == set(MEANINGS)


def test_what_single_lines_tell_is_in_the_table() -> None:
    assert {sign.symptom for sign in SIGNS} <= set(SYMPTOMS)


def test_explain_symptoms_prints_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "symptoms"]) == 0

    out = capsys.readouterr().out
    for row in SYMPTOMS.values():
        assert row.text in out
    for remedy in REMEDIES:
        assert remedy.name in out
    assert "XLA_PYTHON_CLIENT_ALLOCATOR" in out
