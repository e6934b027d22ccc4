"""A claim about a retrace is measured on the function that it is about, and not on another one beside it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checked_programs import Check, verdicts

HAZARDS = Path(__file__).resolve().parents[2] / "fixtures" / "record" / "hazards.py"


def test_each_claim_is_measured_on_its_own_function(tmp_path: Path) -> None:
    shutil.copy(HAZARDS, tmp_path / "program.py")
    command = [sys.executable, "-m", "jaxlint", "check", "--isolated", "--no-cache", "--confirm"]
    options = ["--timeout", "300", "--select", "JAX1", "--output-format", "json"]
    done = subprocess.run(
        [*command, *options, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode in (0, 1), done.stderr
    found = {
        finding["code"]: (verdict["verdict"], verdict["reason"].split(" (")[0])
        for finding in json.loads(done.stdout)
        for verdict in finding["confirm"]
        if "schedule" not in finding["message"].lower()
    }
    assert found == {
        "JAX101": ("confirmed", "`denoise` was compiled 4 times"),
        "JAX102": ("confirmed", "`rollout` was compiled 4 times"),
        "JAX103": ("confirmed", "`<lambda>` was compiled 4 times"),
        "JAX106": ("confirmed", "`attend` was compiled 4 times"),
        "JAX110": ("confirmed", "`solve` was compiled twice"),
        "JAX111": ("confirmed", "`accumulate` was compiled twice"),
        "JAX114": ("confirmed", "`score` was compiled twice"),
    }


MAKERS = """
import jax
import jax.numpy as jnp
import numpy as np


def make_step(lr):
    @jax.jit
    def step(w, x):
        return w - lr * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)

    return step


def fit(step, w, data, size):
    for i in range(0, len(data), size):
        w = step(w, data[i : i + size])
    return w


def main():
    data = np.ones((60, 8), np.float32)
    for rate in (0.1, 0.5):
        print(fit(make_step(rate), jnp.ones(8), data, {size}))


main()
"""


@pytest.mark.parametrize(
    ("size", "verdict", "said"),
    [
        (20, "refuted", "2 functions called `step` were compiled once each, for 6 calls"),
        (60, "unknown", "the loop in line 16 went round once only: a retrace takes two rounds"),
        (25, "confirmed", "`step` was compiled twice"),
    ],
)
def test_functions_of_one_factory_are_counted_apart(
    confirm: Check, size: int, verdict: str, said: str
) -> None:
    [found] = verdicts(confirm({"program.py": MAKERS.format(size=size)}), "JAX104")
    assert found["verdict"] == verdict
    assert said in found["reason"]


def test_another_function_of_the_name_does_not_count(confirm: Check) -> None:
    program = """
        import jax
        import jax.numpy as jnp
        import numpy as np

        @jax.jit
        def step(w, x):
            return w - 0.1 * jnp.mean(x)

        def pretrain(data):
            @jax.jit
            def step(w, x):
                return w - 0.2 * jnp.mean(x)
            w = jnp.zeros(())
            for width in (3, 4, 5):
                w = step(w, data[:, :width])
            return w

        def main():
            data = np.ones((60, 8), np.float32)
            w = pretrain(data)
            for i in range(0, len(data), 20):
                w = step(w, data[i:i + 20])
            print(w)

        main()
    """
    found = [f for f in confirm({"program.py": program}) if f["code"] == "JAX104"]
    [verdict] = [f["confirm"][0] for f in found if "data[i:i + 20]" in f["message"]]
    assert (verdict["verdict"], verdict["reason"]) == ("refuted", "`step` was compiled once for 3 calls")


STATIC = """
import jax
import jax.numpy as jnp
from functools import partial


@partial(jax.jit, static_argnames="n")
def crop(x, n):
    return x[:n].sum()


def main():
    x = jnp.arange(100.0)
    for i in range(1, {rounds} + 1):
        crop(x, i)
    for _ in range(3):
        crop(x, 1)


{calls}
"""


@pytest.mark.parametrize("calls", ["main()", "main()\nmain()"])
def test_a_loop_that_goes_round_once_proves_nothing(confirm: Check, calls: str) -> None:
    [verdict] = verdicts(confirm({"program.py": STATIC.format(rounds=1, calls=calls)}), "JAX102")
    assert verdict["verdict"] == "unknown"
    assert "once only: a retrace takes two" in verdict["reason"]
    [verdict] = verdicts(confirm({"program.py": STATIC.format(rounds=2, calls=calls)}), "JAX102")
    assert verdict["verdict"] == "confirmed"


def test_what_other_lines_compile_is_no_evidence(confirm: Check) -> None:
    program = """
        import jax
        import jax.numpy as jnp
        import numpy as np

        @jax.jit
        def step(w, x):
            return w - 0.1 * jnp.mean(x)

        def main():
            w = jnp.zeros(())
            test, data = np.ones((7, 8), np.float32), np.ones((60, 8), np.float32)
            w = step(w, test)
            for i in range(0, len(data), 20):
                w = step(w, data[i:i + 20])
            print(w)

        main()
    """
    [verdict] = verdicts(confirm({"program.py": program}), "JAX104")
    assert (verdict["verdict"], verdict["reason"]) == (
        "unknown",
        "`step` was compiled twice, but not again at these lines",
    )


LAMBDAS = """
import jax
import jax.numpy as jnp


def lengths():
    total = jax.jit(lambda a: a.sum())
    for n in range(1, 8):
        total(jnp.ones(n))


def doubled(x):
    for i in range({rounds}):
        y = {call}
    return y


lengths()
print(doubled(jnp.ones(2)))
"""


@pytest.mark.parametrize(
    ("rounds", "verdict", "said"),
    [(1, "unknown", "gets there once only"), (3, "confirmed", "`<lambda>` was compiled 3 times")],
)
def test_a_lambda_is_counted_by_its_definition(confirm: Check, rounds: int, verdict: str, said: str) -> None:
    program = LAMBDAS.format(rounds=rounds, call="jax.jit(lambda v: v * 2)(x)")
    [found] = verdicts(confirm({"program.py": program}), "JAX103")
    assert found["verdict"] == verdict
    assert said in found["reason"]
    if verdict == "confirmed":  # the fix is measured on it alone, too
        assert "once as fixed" in found["reason"]


@pytest.mark.skipif(
    sys.version_info < (3, 11), reason="columns tell lambdas of a line apart from Python 3.11"
)
def test_lambdas_of_one_line_are_not_told_apart(confirm: Check) -> None:
    program = LAMBDAS.format(rounds=1, call="jax.jit(lambda v: v * 2)(x) + jax.jit(lambda v: v + 1)(x)")
    for verdict in verdicts(confirm({"program.py": program}), "JAX103"):
        assert verdict["verdict"] == "unknown"
