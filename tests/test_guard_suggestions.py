"""The fix of JAX113 is only a suggestion where it is not known what a comment is about."""

from __future__ import annotations

from pathlib import Path

from test_trace_suggestions import rewritten

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
