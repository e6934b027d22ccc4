"""The pytest plugin: a record of the tests, and the fixture that fails on a retrace."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from recorded_programs import QUIET

from jaxlint.recording.history import read

CODE = """
from functools import partial
import jax
import jax.numpy as jnp

@jax.jit
def step(weights, batch):
    return weights + batch.sum()

@partial(jax.jit, static_argnames="depth")
def unroll(x, depth):
    return x * depth
"""
TESTS = """
import jax
import jax.numpy as jnp
import pytest
from model import step, unroll

@pytest.fixture
def weights():
    return jnp.ones(3)

def test_block_is_calm(no_retrace, weights):
    step(weights, jnp.ones(4))
    with no_retrace():
        for i in range(3):
            step(weights * i, jnp.zeros(4))

def test_block_changes(no_retrace, weights):
    step(weights, jnp.ones(4))
    with no_retrace():
        step(weights, jnp.ones(5))

def test_after_block(no_retrace, weights):
    step(weights, jnp.ones(4))
    with no_retrace():
        step(weights, jnp.ones(4))
    step(weights, jnp.ones(6))

def test_until_end(no_retrace, weights):
    unroll(weights, depth=2)
    no_retrace()
    unroll(weights, depth=3)

def test_fresh_function(no_retrace, weights):
    jitted = lambda: jax.jit(lambda x: x + 1)(weights)
    jitted()
    with no_retrace():
        jitted()

def test_first_trace(no_retrace, weights):
    with no_retrace():
        jax.jit(lambda x: x + 2)(weights)

def test_own_failure(no_retrace, weights):
    with no_retrace():
        step(weights, jnp.ones(7))
        assert False, "own"
"""


def pytest_run(tmp_path: Path, *options: str, tests: str = TESTS) -> str:
    (tmp_path / "model.py").write_text(CODE)
    (tmp_path / "test_model.py").write_text(tests)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "--color=no", *options],
        cwd=tmp_path,
        env={**QUIET, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def summary(output: str) -> dict[str, str]:
    """How each test ended."""
    lines = [
        line.split() for line in output.splitlines() if line.startswith(("PASSED ", "FAILED ", "ERROR "))
    ]
    return {words[1].partition("::")[2]: words[0] for words in lines if "::" in words[1]}


EXPECTED = {
    "test_block_is_calm": "PASSED",
    "test_block_changes": "FAILED",
    "test_after_block": "PASSED",
    "test_until_end": "FAILED",
    "test_fresh_function": "FAILED",
    "test_first_trace": "PASSED",
    "test_own_failure": "FAILED",
}


def test_no_retrace(tmp_path: Path) -> None:
    output = pytest_run(tmp_path)
    assert summary(output) == EXPECTED
    assert "`step` (model.py:6), called from test_model.py:20: batch: float32[4] -> float32[5]" in output
    assert "`unroll` (model.py:10), called from test_model.py:31: depth: static 2 -> static 3" in output
    assert "another function object" in output
    assert "watch.py" not in output  # what is shown is the test
    assert "AssertionError: own" in output


@pytest.mark.skipif(find_spec("xdist") is None, reason="pytest-xdist is not installed")
def test_workers_of_xdist(tmp_path: Path) -> None:
    output = pytest_run(tmp_path, "-n", "2", "--jaxlint-record", "record.jsonl")
    assert summary(output) == EXPECTED
    history = read(str(tmp_path / "record.jsonl"))
    assert {boundary.name for boundary in history.boundaries} >= {"step", "unroll"}
    assert len({boundary.pid for boundary in history.boundaries}) == 2


def test_record_of_tests(tmp_path: Path) -> None:
    output = pytest_run(tmp_path, "--jaxlint-record", "record.jsonl")
    assert summary(output) == EXPECTED
    assert "jaxlint: recorded in record.jsonl" in output
    history = read(str(tmp_path / "record.jsonl"))
    assert sum(len(boundary.traces) for boundary in history.boundaries if boundary.name == "step") == 4


def test_run_that_asks_for_nothing_is_left_alone(tmp_path: Path) -> None:
    plain = "import sys, jax\n\ndef test():\n    assert 'recording' not in jax.jit.__code__.co_filename\n"
    output = pytest_run(tmp_path, tests=plain)
    assert summary(output) == {"test": "PASSED"}


def test_record_that_cannot_be_written(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--jaxlint-record", "missing/record.jsonl"],
        cwd=tmp_path,
        env=QUIET,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 4
    assert "cannot write" in done.stderr and "Traceback" not in done.stderr
