"""The fix and the worked suggestion of JAX303: what a scan's carry can give in place of its stack."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace_suggestions import HEADER, rewritten, suggestion

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
    assert fix.applicability is Applicability.UNSAFE
    fixed = apply_fixes(HEADER + last(arguments=arguments), [fix]).removeprefix(HEADER)
    assert fixed == last("ys", arguments, "ys, _")


@pytest.mark.parametrize(
    ("arguments", "safe"),
    [
        ("body, x0, xs", False),
        ("body, x0, xs[3:]", False),
        ("body, x0, None, r", False),
        ("body, x0, None, 0", False),
        ("body, x0, jnp.zeros((0, 3))", False),
        ("body, x0, xs, 10", True),
        ("body, x0, None, length=10", True),
        ("body, x0, None, STEPS", True),
        ("body, x0, jnp.ones((10, 3))", True),
        ("body, x0, jnp.arange(STEPS)", True),
        ("body, x0, ROWS", True),
        ("body, x0, ROWS[STEPS:]", False),
    ],
)
def test_safe_where_there_is_a_last_step(arguments: str, safe: bool, tmp_path: Path) -> None:
    above = "STEPS = 10\nROWS = jnp.ones((10, 3))\n\n\n"
    called = "\n\nf(jnp.zeros(3), jnp.ones((4, 3)), False)\n"
    fix = suggestion("JAX303", above + last(arguments=arguments) + called, tmp_path)
    assert fix is not None
    assert fix.applicability is (Applicability.SAFE if safe else Applicability.UNSAFE)


@pytest.mark.parametrize("call", ["locals()", "eval('ys')", "(lambda: exec('print(ys)'))()", "vars()"])
def test_silent_where_every_name_may_be_read(call: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not enough"):  # no finding
        suggestion("JAX303", last(f"(ys[-1], {call})"), tmp_path)


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


SUGGESTED = """\
@jax.jit
def f(x0, xs, r):
    def body(carry, x):
        c, kept = carry
        c = c + x
        return (c, {kept}), None

    ({target}), _ = jax.lax.scan(body, (x0, jnp.zeros(SHAPE)), xs{more})
    return {used}
"""


@pytest.mark.parametrize(
    ("returned", "kept", "before", "after"),
    [
        ("c, c > 2", "kept + (c > 2)", "ys.sum(axis=0)", "ys"),
        ("c, c - x", "kept + (c - x)", "jnp.sum(ys, 0)", "ys"),
        ("c, c * x", "kept + c * x", "jnp.sum(ys)", "jnp.sum(ys)"),
        ("c, jnp.abs(c)", "kept + jnp.abs(c)", "ys.mean(0)", "ys / LENGTH"),
        ("c, x", "kept + x", "2 * ys.mean(axis=0)", "2 * (ys / LENGTH)"),
        ("c, x", "kept + x", "jnp.mean(ys)", "jnp.mean(ys) / LENGTH"),
        ("c, c if r else x", "kept + (c if r else x)", "ys.sum()", "ys.sum()"),
        ("c, c > 2", "c > 2", "(ys[-1], ~ys[-1])", "(ys, ~ys)"),
    ],
)
def test_what_is_kept_takes_the_place_of_the_stack(
    returned: str, kept: str, before: str, after: str, tmp_path: Path
) -> None:
    source = last(before, target="c, ys", returned=returned)
    expected = SUGGESTED.format(kept=kept, target="c, ys", used=after, more="")
    assert rewritten("JAX303", source, tmp_path) == expected


def test_mean_over_a_known_number_of_steps(tmp_path: Path) -> None:
    source = last("ys.mean(0)", "body, x0, xs, length=400", "c, ys", "c, x")
    expected = SUGGESTED.format(kept="kept + x", target="c, ys", used="ys / 400", more=", length=400")
    assert rewritten("JAX303", source, tmp_path) == expected


@pytest.mark.parametrize(
    "used",
    [
        "(ys**2).sum(0)",
        "ys.sum(0, keepdims=True)",
        "(ys.sum(0), ys.mean(0))",
        "ys.sum(0) / ys.shape[0]",
        "ys.max(0)",
        "(ys[-1], ys.sum(0))",
    ],
)
def test_nothing_is_suggested_that_shows_only_a_part(used: str, tmp_path: Path) -> None:
    assert suggestion("JAX303", last(used, target="c, ys", returned="c, x"), tmp_path) is None
