"""No fix changes what a program prints of itself."""

from __future__ import annotations

import ast

import pytest

from jaxlint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Severity, Span
from jaxlint.fix.texts import sparing_texts
from jaxlint.focus import Focus

SAFE, DISPLAY = Applicability.SAFE, Applicability.DISPLAY


def kept(source: str, old: str, new: str = "other") -> Applicability | None:
    """What becomes of a safe fix that replaces the one place of some text."""
    before = source[: source.index(old)]
    line, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
    end = before + old
    span = Span(line, column, end.count("\n") + 1, len(end.rpartition("\n")[2]) + 1)
    fix = Fix("rewrite", SAFE, (Edit(span, new),))
    place = Place("a.py", span)
    found = Finding("JAX901", "made-up", "made up", Severity.WARNING, Confidence.HIGH, place, fix=fix)
    left = sparing_texts(found, Focus(source, ast.parse(source))).fix
    return left.applicability if left is not None else None


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ('print(f"{value}")\n', SAFE),
        ('print(f"{value:.2f} of {total=}")\n', SAFE),
        ('print("é" f"{1:{value}}")\n', None),
        ('print(f"{value=}")\n', DISPLAY),
        ('print(f"{value = !s:>8}")\n', DISPLAY),
        ('print("the " f"{ones((value, 3))=}")\n', DISPLAY),
        ("print(f\"{names[f'{value}']=}\")\n", DISPLAY),
        ("print(f\"{names[f'{value}']}\")\n", SAFE),
        ("print(f\"{names['value']}\")\n", None),
        ('print(f"value {total}")\n', None),
        ('print("""\nthe value""")\n', None),
        ('print(b"the value")\n', None),
        ('print("a string") or value\n', SAFE),
    ],
)
def test_an_edit_in_a_string(source: str, left: Applicability | None) -> None:
    assert kept(source, "value") is left


def test_a_string_as_a_whole_may_be_replaced() -> None:
    assert kept('print("value")\n', '"value"') is SAFE
    assert kept('print(f"{value=}")\n', 'f"{value=}"') is SAFE


def test_lines_are_not_put_into_a_string() -> None:
    source = 'TEXT = """\n# a comment?"""\nimport jax\n'
    assert kept(source, "# a comment?", "# a comment?") is None
    assert kept(source, "import jax", "import os\nimport jax") is SAFE
