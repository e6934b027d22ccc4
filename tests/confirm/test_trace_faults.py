"""Claims that a line cannot be traced: only a trace of the kind that the claim speaks of says whether it is so."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from checked_programs import Check, verdicts

from jaxlint.confirm.arms import trace_faults
from jaxlint.confirm.claim import Claim, Site
from jaxlint.confirm.expression import Expression, expression
from jaxlint.confirm.observed import Observed
from jaxlint.finding import Confidence, Finding, Place, Severity, Span

HELPER = """
import sys

import jax
import jax.numpy as jnp


def clip(x, most):
    if x.sum() > most:
        return x / most
    return x


@jax.jit
def step(x, most):
    return clip(x, most) * 2


def main():
    x = jnp.ones(5)
    {before}
    if len(sys.argv) {jitted}:
        print(step(x, 3.0))


main()
"""


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("print(jax.grad(lambda x: clip(x, 3.0).sum())(x))", "by `grad` alone, where values are known"),
        (
            "print(jax.vmap(lambda a, b: clip(b, 3.0) + a, in_axes=(0, None))(x, x))",
            "by another way, with values that are known",
        ),
        ("print(clip(x, 3.0))", "ran once, but never in traced code"),
    ],
)
def test_a_trace_of_another_kind_decides_nothing(confirm: Check, before: str, said: str) -> None:
    [verdict] = verdicts(confirm({"program.py": HELPER.format(before=before, jitted="> 1")}), "JAX205")
    assert verdict["verdict"] == "unknown"
    assert said in verdict["reason"]
    assert "the finding is about the call in line 23, which did not run" in verdict["reason"]


def test_the_trace_that_the_claim_is_about_decides_whatever_ran_before(confirm: Check) -> None:
    before = "print(jax.grad(lambda x: clip(x, 3.0).sum())(x))"
    [verdict] = verdicts(confirm({"program.py": HELPER.format(before=before, jitted="> 0")}), "JAX205")
    assert verdict["verdict"] == "confirmed"


def test_what_one_line_raises_is_no_evidence_for_the_next(confirm: Check) -> None:
    program = """
        import jax
        import jax.numpy as jnp


        @jax.jit
        def step(x):
            if x.sum() > 3:
                x = x / 3
            return x * float(x[0])


        def main():
            print(step(jnp.ones(5)))


        main()
    """
    findings = [f for f in confirm({"program.py": program}) if f["code"] == "JAX205"]
    found = {f["start"]["line"]: f["confirm"][0] for f in findings}
    assert {line: verdict["verdict"] for line, verdict in found.items()} == {8: "confirmed", 10: "unknown"}
    assert "line 10 did not run: the program stopped at line 8" in found[10]["reason"]


def test_numpy_that_answers_wrongly_and_raises_nothing_is_confirmed_by_that(confirm: Check) -> None:
    program = """
        import jax
        import jax.numpy as jnp
        import numpy as np


        @jax.jit
        def same(a, b):
            return a * np.array_equal(a, b)


        print(same(jnp.ones(3), jnp.ones(3)))
    """
    [verdict] = verdicts(confirm({"program.py": program}), "JAX206")
    assert (verdict["verdict"], verdict["reason"]) == (
        "confirmed",
        "line 9 was traced once, and nothing was raised",
    )


FILE = "/p/program.py"


def judged(run: dict[str, Any], *, certain: bool = True) -> tuple[str, str]:
    """The verdict on line 5, `if x > limit`, traced from line 9, through the call in line 11."""
    finding = Finding(
        code="JAX205",
        slug="traced-branch",
        message="`if` needs a Python bool of the traced `x > limit`",
        severity=Severity.ERROR,
        confidence=Confidence.HIGH,
        place=Place(FILE, Span(5, 8, 5, 17)),
    )
    related = (Site(FILE, 9, 10, "traced from here"), Site(FILE, 11, 11, "`clip` is called here"))
    claim = Claim(finding, Site(FILE, 5, 5), related, Expression(frozenset({"x", "limit"}), certain))
    boundary = {"name": "step", "place": [FILE, 9, "step"], "wrapped": [], "kept": [{"id": 7}]}
    ran = {"at": 1, "tracing": True, "transformations": ["jit"], "within": [7], "stack": [], **run}
    data = {"compiles": [], "traces": [], "printed": "", "raised": None, "warnings": []}
    seen = Observed({**data, "boundaries": [boundary], "lines": [[FILE, 5, [ran]], [FILE, 11, []]]})
    judgement = trace_faults.judge(claim, seen)
    return judgement.outcome.value, judgement.reason


def test_a_line_that_took_a_value_without_a_value_is_refuted() -> None:
    assert judged({"values": {"x": True, "limit": True}})[0] == "refuted"
    assert judged({"values": {"x": True, "limit": True}}, certain=False)[0] == "unknown"


def test_values_that_are_known_refute_on_the_way_of_the_finding_alone() -> None:
    by_the_call = [[FILE, 5, "clip"], [FILE, 11, "step"]]
    known = {"values": {"x": False, "limit": False}}
    assert judged({**known, "stack": by_the_call})[0] == "refuted"
    assert judged(known)[0] == "unknown"
    assert judged({**known, "stack": by_the_call, "within": []})[0] == "unknown"
    assert judged({**known, "stack": by_the_call, "transformations": ["grad"]})[0] == "unknown"


@pytest.mark.parametrize(
    ("text", "part", "names", "certain"),
    [
        ("if x > limit:\n    pass\n", "x > limit", {"x", "limit"}, True),
        ("if flag and x > 0:\n    pass\n", "x > 0", {"x"}, False),
        ("if x > 0 and flag:\n    pass\n", "x > 0", {"x"}, True),
        ("y = float(x) if flag else 0\n", "float(x)", {"float", "x"}, False),
        ("y = 1 if x > 0 else 0\n", "x > 0", {"x"}, True),
        ("y = [float(x) for x in xs]\n", "float(x)", {"float", "x"}, False),
        ("y = 'é' + float(x)\n", "float(x)", {"float", "x"}, True),
        ("@jit\ndef f(x):\n    return g(\n        x, int(n)\n    )\n", "int(n)", {"int", "n"}, True),
    ],
)
def test_the_expression_of_a_finding(text: str, part: str, names: set[str], certain: bool) -> None:
    lines = text.split("\n")
    line = next(number for number, line in enumerate(lines) if part in line)
    column = lines[line].index(part) + 1
    place = Span(line + 1, column, line + 1, column + len(part))
    assert expression(ast.parse(text), text, place) == (names, certain)
