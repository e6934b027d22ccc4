"""The fix and the worked suggestion of JAX303: what a scan's carry can give in place of its stack."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace_suggestions import HEADER, suggestion

from jaxlint.finding import Applicability
from jaxlint.fix.apply import apply_fixes

LAST = """\
@jax.jit
def f(x0, xs, r):
    def body(c, x):
        c = c + x
        return {returned}

    {target} = jax.lax.scan({arguments})
    return {used}
"""


def last(
    used: str = "ys[-1]",
    arguments: str = "body, x0, xs",
    target: str = "_, ys",
    returned: str = "c, c",
) -> str:
    return LAST.format(used=used, arguments=arguments, target=target, returned=returned)


@pytest.mark.parametrize(
    "arguments", ["body, x0, xs", "body, x0, xs, None, False", "body, x0, xs, reverse=False"]
)
def test_carry_takes_the_place_of_the_last_entry(arguments: str, tmp_path: Path) -> None:
    fix = suggestion("JAX303", last(arguments=arguments), tmp_path)
    assert fix is not None
    assert fix.applicability is Applicability.SAFE
    fixed = apply_fixes(HEADER + last(arguments=arguments), [fix]).removeprefix(HEADER)
    assert fixed == last("ys", arguments, "ys, _")


@pytest.mark.parametrize(
    "source",
    [
        last(arguments="body, x0, xs, reverse=True"),
        last(arguments="body, x0, xs, reverse=r"),
        last(arguments="body, x0, xs, None, r"),
        last(arguments='body, x0, xs, **{"reverse": r}'),
        last(arguments="body, *(x0, xs, None, r)"),
        last("ys[-1, 0]"),
        last("(ys[-1], ys[-1, 0])"),
        last("ys[-1] / ys.shape[0]"),
        last("(ys[-1], ys.ndim)"),
        last("jax.tree.map(lambda a: a[-1, 0], ys)"),
        last(returned="c + noise(c), c + noise(c)"),
        last("(ys[-1], _carry)", target="_carry, ys"),
        last("(lambda ys: ys[-1])(x0) + ys[-1]"),
    ],
)
def test_no_fix_where_the_carry_may_be_another_value(source: str, tmp_path: Path) -> None:
    try:
        fix = suggestion("JAX303", source, tmp_path)
    except ValueError:  # no finding at all
        return
    assert fix is None or fix.applicability is Applicability.DISPLAY


def test_all_uses_are_rewritten(tmp_path: Path) -> None:
    fix = suggestion("JAX303", last(" + ".join(["ys[-1]"] * 9)), tmp_path)
    assert fix is not None
    fixed = apply_fixes(HEADER + last(" + ".join(["ys[-1]"] * 9)), [fix]).removeprefix(HEADER)
    assert fixed == last(" + ".join(["ys"] * 9), target="ys, _")
