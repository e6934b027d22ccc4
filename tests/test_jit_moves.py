"""JAX103 moves a jit only where what the function reads is seen to stay the same."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from test_trace_suggestions import HEADER, suggestion

from jaxlint.finding import Applicability
from jaxlint.fix.apply import apply_fixes

PROGRAM = """\
state = {{"n": 0}}


def tick():
    state["n"] += 1


def bump(settings):
    settings["s"] *= 2


def rate():
    return state["n"] * 1.0


def double(y):
    return 2 * y


class Box:
    def __init__(self):
        self.s = 1.0

    def grow(self):
        self.s *= 2


def run(xs, k):
    settings, box, steps = {{"s": 1.0}}, Box(), iter(range(100))
    same = box
    n, out = 0, []

    def inc():
        nonlocal n
        n += 1

    for x in xs:
        {before}
        out.append(jax.jit(lambda y: {body})(x))
    return out


run([jnp.ones(3), jnp.zeros(3)], 2)
"""
STAYS = [("pass", "y * 2"), ("pass", "y * k"), ("tick()", "double(y)"), ("print(x.sum())", "jnp.sum(y) * k")]
CHANGES = [
    ("tick()", "y + state['n']"),
    ("tick()", "y + rate()"),
    ("bump(settings)", "y * settings['s']"),
    ("same.grow()", "y * box.s"),
    ("z = same.grow()", "y * box.s"),
    ("same.s = 2", "y * box.s"),
    ("inc()", "y + n"),
    ("pass", "y + next(steps)"),
    ("pass", "y + np.random.normal()"),
    ("pass", "y + box.draw()"),
]


@pytest.mark.parametrize(("before", "body"), STAYS)
def test_moves_out_of_the_loop(before: str, body: str, tmp_path: Path) -> None:
    fix = suggestion("JAX103", PROGRAM.format(before=before, body=body), tmp_path)
    assert fix is not None and fix.applicability is Applicability.UNSAFE


@pytest.mark.parametrize(("before", "body"), CHANGES)
def test_stays_where_what_it_reads_may_change(before: str, body: str, tmp_path: Path) -> None:
    fix = suggestion("JAX103", PROGRAM.format(before=before, body=body), tmp_path)
    assert fix is None or fix.applicability is Applicability.DISPLAY


@pytest.mark.parametrize(("body", "kind"), [("y + state['n']", "display"), ("y * 2", "unsafe")])
def test_out_of_a_function(body: str, kind: str, tmp_path: Path) -> None:
    program = f"""\
state = {{"n": 0}}


def apply(x):
    state["n"] += 1
    return jax.jit(lambda y: {body})(x)


for i in range(3):
    apply(jnp.ones(3))
"""
    fix = suggestion("JAX103", program, tmp_path)
    assert fix is not None and fix.applicability.name.lower() == kind


GUARDED = """\
import functools

SCALES = None


def model(w, x):
    return w * x


def evaluate(batches, extra=None):
    for b in batches:
{body}


evaluate([jnp.ones(2)] * 2)
evaluate([jnp.ones(2)] * 2, {{"w": 2.0}})
"""
JIT = 'jax.jit(functools.partial(model, extra["w"]))'
PROTECTED = {
    "if": f"if extra is not None:\n    {JIT}(b)",
    "a binding under if": f"if extra is not None:\n    f = {JIT}\n    f(b)",
    "else": f"if extra is None:\n    pass\nelse:\n    {JIT}(b)",
    "and": f"extra is not None and {JIT}(b)",
    "a conditional expression": f"y = {JIT}(b) if extra else b",
    "continue": f"if extra is None:\n    continue\n{JIT}(b)",
    "try": f"try:\n    {JIT}(b)\nexcept TypeError:\n    pass",
    "while": f"while extra and b is not None:\n    {JIT}(b)\n    b = None",
    "a function that may be None": "if extra is not None:\n    jax.jit(functools.partial(extra.get))(b)",
}
HARMLESS = {
    "no condition": f"{JIT}(b)",
    "in the condition": f"if {JIT}(b).sum() > 0:\n    pass",
    "nothing that fails": "if extra is not None:\n    jax.jit(lambda x: model(2.0, x))(b)",
    "later": 'if extra is not None:\n    jax.jit(lambda x: model(extra["w"], x))(b)',
}


def guarded(body: str, indent: str) -> str:
    text = GUARDED.format(body=textwrap.indent(body, 8 * " "))
    return text.replace("    ", indent)


@pytest.mark.parametrize("body", PROTECTED.values(), ids=PROTECTED)
def test_what_a_condition_protects_stays_under_it(body: str, tmp_path: Path) -> None:
    assert suggestion("JAX103", guarded(body, "    "), tmp_path) is None


@pytest.mark.parametrize("indent", ["    ", "\t", "  "])
@pytest.mark.parametrize("body", HARMLESS.values(), ids=HARMLESS)
def test_what_cannot_fail_is_moved_whatever_the_indentation(body: str, indent: str, tmp_path: Path) -> None:
    program = guarded(body, indent)
    fix = suggestion("JAX103", program, tmp_path)
    assert fix is not None
    assert f"\n{indent}for b in batches:" in "\n" + program and fix.edits[0].text.endswith(f"\n{indent}")


AROUND = """\
import functools


class Rate:
    value = 1.0

    @property
    def next(self):
        self.value += 1
        return self.value

    def __iter__(self):
        for i in range(3):
            self.value = i
            yield jnp.ones(1)


def scaled(y, factor):
    return y * factor


class Options(dict):
    pass


rate = Rate()
arrays = [jnp.ones(1)] * 3


def run(batches, rate, options):
    lists = list(range(3))
    {loop}:
        {line}


run(arrays, rate, Options(factor=1.0))
"""
LOOPS = [
    ("for b in range(3)", "print(jax.jit(lambda y: y * rate.value)(b))", "unsafe"),
    ("for i, b in enumerate(arrays[1:])", "print(jax.jit(lambda y: y * rate.value)(b))", "unsafe"),
    ("for b in jnp.ones((3, 2))", "print(jax.jit(lambda y: y * rate.value)(b))", "unsafe"),
    ("for b in [c + 1 for c in lists]", "print(jax.jit(lambda y: y * rate.value)(b))", "unsafe"),
    ("for b in batches", "print(jax.jit(lambda y: y * 2)(b))", "unsafe"),
    ("for b in batches", "yield jax.jit(lambda y: y * 2)(b)", "unsafe"),
    ("for b in range(3)", "yield jax.jit(lambda y: y * rate.value)(b)", "display"),
    ("for b in batches", "print(jax.jit(lambda y: y * rate.value)(b))", "display"),
    ("for b in batches", 'print(jax.jit(lambda y: y * options["factor"])(b))', "display"),
    ("for b in zip(range(3), batches)", "print(jax.jit(lambda y: y * rate.value)(b[1]))", "display"),
    ("for b in elsewhere", "print(jax.jit(lambda y: y * rate.value)(b))", "display"),
    ("for b in rate", "print(jax.jit(lambda y: y * rate.value)(b))", "display"),
    ("for b in range(3)", "print(jax.jit(lambda y: y * rate.next)(b))", "display"),
    ("for b in range(3)", 'print(jax.jit(functools.partial(scaled, factor=options["f"]))(b))', "unsafe"),
    ("for b in arrays", "print(jax.jit(functools.partial(scaled, factor=rate))(b))", "unsafe"),
    ("for b in lists", 'print(jax.jit(functools.partial(scaled, factor=options["f"]))(b))', "display"),
]


@pytest.mark.parametrize(("loop", "line", "kind"), LOOPS)
def test_code_that_runs_between_the_rounds(loop: str, line: str, kind: str, tmp_path: Path) -> None:
    source = AROUND.format(loop=loop, line=line)
    fix = suggestion(
        "JAX103", source.replace("run(arrays", "list(run(arrays").replace("1.0))", "1.0)) or [])"), tmp_path
    )
    assert fix is not None and fix.applicability.name.lower() == kind


TEXTS = """\
def tagged(x):
    @jax.jit
    def scale(v):
        table = {mark}\"\"\"1 2
        3\"\"\"
        return (v
                * len(table))

    return scale(x)


for i in range(3):
    print(tagged(jnp.ones(1)))
"""


@pytest.mark.parametrize("mark", ["", "f", "rb"])
def test_the_lines_of_a_string_stay_as_they_are(mark: str, tmp_path: Path) -> None:
    source = TEXTS.format(mark=mark)
    fix = suggestion("JAX103", source, tmp_path)
    assert fix is not None
    after = apply_fixes(HEADER + source, [fix])
    moved = f'    table = {mark}"""1 2\n        3"""\n    return (v\n            * len(table))\n'
    assert f"@jax.jit\ndef scale(v):\n{moved}" in after
