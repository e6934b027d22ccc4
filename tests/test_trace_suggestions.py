"""The worked suggestions of the rules about traced code: advice that is not applied must still be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint import registry
from jaxlint.check import check
from jaxlint.finding import Applicability, Finding, Fix
from jaxlint.fix.apply import apply_fixes
from jaxlint.project.files import SourceFile
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings

HEADER = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\n"


def suggestion(code: str, source: str, root: Path) -> Fix | None:
    """What the rule of that code suggests at its first finding."""
    return finding(code, source, root).fix


def finding(code: str, source: str, root: Path) -> Finding:
    """The first of the rule of that code."""
    (root / "example.py").write_text(HEADER + source, encoding="utf-8")
    files = [SourceFile(path="example.py", absolute=str(root / "example.py"), data=None)]
    rules = [rule for rule in registry.load() if rule.meta.code == code]
    settings = Settings()
    first, *_ = check(files, Project(str(root), settings), settings, rules, jobs=1, cache=False)
    assert first.code == code
    return first


def rewritten(code: str, source: str, root: Path) -> str:
    fix = suggestion(code, source, root)
    assert fix is not None
    assert fix.applicability is Applicability.DISPLAY
    return apply_fixes(HEADER + source, [fix]).removeprefix(HEADER)


def function(*lines: str) -> str:
    return "".join(["@jax.jit\ndef f(x, y):\n", *(f"    {line}\n" for line in lines)])


BODIES = [
    ("JAX205", ["return x if x > 0 else -x"], ["return jnp.where(x > 0, x, -x)"]),
    (
        "JAX205",
        ["if (x > 0):", "    y = 2 * x", "return y"],
        ["y = jnp.where((x > 0), 2 * x, y)", "return y"],
    ),
    (
        "JAX205",
        ["if x > 0:", "    y = x", "else:", "    y = -x", "return y"],
        ["y = jnp.where(x > 0, x, -x)", "return y"],
    ),
    ("JAX205", ["if x > 0:", "    return x", "return -x"], ["return jnp.where(x > 0, x, -x)"]),
    ("JAX205", ["return (x > 0) and (x < 1)"], ["return jnp.logical_and((x > 0), (x < 1))"]),
    ("JAX205", ["return not x > 0"], ["return jnp.logical_not(x > 0)"]),
    ("JAX205", ["return {'loss': float(jnp.mean(x))}"], ["return {'loss': jnp.mean(x)}"]),
    ("JAX205", ["return (x * y).item()"], ["return (x * y)"]),
    ("JAX205", ["return min(x + 1, 3.0)"], ["return jnp.minimum(x + 1, 3.0)"]),
    (
        "JAX206",
        ["out = np.zeros(3)", "out[0] = x * y", "return out"],
        ["out = np.zeros(3)", "out = jnp.asarray(out).at[0].set(x * y)", "return out"],
    ),
    ("JAX207", ["return jnp.flatnonzero(x)"], ["return jnp.flatnonzero(x, size=x.size)"]),
    ("JAX207", ["return x[x > 0].sum()"], ["return x.sum(where=x > 0)"]),
    ("JAX207", ["return jnp.mean(x[x > 0])"], ["return jnp.mean(x, where=x > 0)"]),
    ("JAX207", ["return x[x > 0]"], ["return jnp.where(x > 0, x, 0)"]),
    ("JAX207", ["return x.at[x < 0].add(y)"], ["return jnp.where(x < 0, x + y, x)"]),
]


@pytest.mark.parametrize(("code", "before", "after"), BODIES, ids=[" ".join(body) for _, body, _ in BODIES])
def test_body(code: str, before: list[str], after: list[str], tmp_path: Path) -> None:
    assert rewritten(code, function(*before), tmp_path) == function(*after)


def test_window_becomes_a_dynamic_slice(tmp_path: Path) -> None:
    source = "@jax.jit\ndef window(x, i):\n    i = i * 2\n    return x[i : i + 4]\n"
    expected = source.replace("x[i : i + 4]", "jax.lax.dynamic_slice_in_dim(x, i, 4)")
    assert rewritten("JAX208", source, tmp_path) == expected


def test_outer_value_becomes_an_argument(tmp_path: Path) -> None:
    source = """\
SCALE = 1.0


@jax.jit
def f(x: jax.Array):
    return SCALE * x + SCALE


f(jnp.ones(2))
SCALE = 2.0
f((jnp.ones(3)),)
"""
    expected = """\
SCALE = 1.0


@jax.jit
def f(x: jax.Array, scale):
    return scale * x + scale


f(jnp.ones(2), SCALE)
SCALE = 2.0
f((jnp.ones(3)), SCALE)
"""
    assert rewritten("JAX201", source, tmp_path) == expected


@pytest.mark.parametrize(
    "body",
    [
        ["if x > 0:", "    return x, y", "return y, x"],
        ["if x > 0:", "    print('positive')", "return x"],
        ["assert jnp.all(x > 0)", "return x"],
    ],
)
def test_no_suggestion_where_none_is_right(body: list[str], tmp_path: Path) -> None:
    assert suggestion("JAX205", function(*body), tmp_path) is None
