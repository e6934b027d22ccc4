"""The fix of JAX113 is only a suggestion where it is not known what a comment is about."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace_suggestions import HEADER, rewritten, suggestion

from jaxlint.fix.apply import apply_fixes

STACKED = """\
import equinox as eqx


{above}@eqx.debug.assert_max_traces(max_traces=1)
@eqx.filter_jit
def f(x):
    return x + 1
"""


def test_comment_above_the_stack_stays(tmp_path: Path) -> None:
    source = STACKED.format(above="# The loss.\n")
    guard, jit = "@eqx.debug.assert_max_traces(max_traces=1)", "@eqx.filter_jit"
    assert rewritten("JAX113", source, tmp_path) == source.replace(f"{guard}\n{jit}", f"{jit}\n{guard}")


CALLS = """\
import equinox as eqx


def f(x):
    return x + 1


g = {made}
"""


@pytest.mark.parametrize(
    ("given", "turned"),
    [
        ('donate="none", fun=f', 'eqx.filter_jit(donate="none", fun=guard(f, max_traces=5))'),
        ('f, donate="none"', 'eqx.filter_jit(guard(f, max_traces=5), donate="none")'),
        ("*[f]", None),
        ('**{"fun": f}', None),
        ('donate="none", **{"fun": f}', None),
    ],
)
def test_the_guard_goes_around_the_function(given: str, turned: str | None, tmp_path: Path) -> None:
    source = CALLS.format(made=f"eqx.debug.assert_max_traces(eqx.filter_jit({given}), max_traces=5)")
    fix = suggestion("JAX113", source, tmp_path)
    if turned is None:
        assert fix is None
    else:
        assert fix is not None
        made = turned.replace("guard", "eqx.debug.assert_max_traces")
        assert apply_fixes(HEADER + source, [fix]) == HEADER + CALLS.format(made=made)


@pytest.mark.parametrize("given", ["fast := eqx.filter_jit(f)", "eqx.filter_jit((body := f))"])
def test_what_stands_between_the_two_is_more_than_calls(given: str, tmp_path: Path) -> None:
    source = CALLS.format(made=f"eqx.debug.assert_max_traces(({given}), max_traces=5)")
    assert suggestion("JAX113", source, tmp_path) is None
