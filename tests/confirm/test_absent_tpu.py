"""Compiling for a TPU that is not there. Takes the extra tpu-aot."""

from __future__ import annotations

import concurrent.futures
from importlib.util import find_spec
from pathlib import Path

import absent_gpu
import pytest

from jaxlint.confirm.targets import every_target, resolve

MIB = 1 << 20

SIZES = """
def outer(x):
    for _ in range(10):
        _, ys = jax.lax.scan(lambda c, _: (1 + jnp.cos(c**2),) * 2, x, None, 100)
        x = ys[-1]
    return x
x = jax.ShapeDtypeStruct((200, 200, 200), jnp.float32)
lowered = deviceless.lower(jax.jit(outer), (x,), {}, device)
result = deviceless.compile_lowered(lowered, device).memory_analysis().temp_size_in_bytes
"""


@pytest.fixture(autouse=True)
def _extra() -> None:
    if find_spec("libtpu") is None:
        pytest.skip("needs the extra tpu-aot: libtpu is not installed")


def test_a_tpu_reuses_the_stack_that_a_gpu_keeps_ten_times(tmp_path: Path) -> None:
    assert absent_gpu.compile_for(resolve("tpu:v5p"), SIZES, tmp_path) == pytest.approx(3907 * MIB, rel=0.01)


def test_two_processes_may_compile_at_once(tmp_path: Path) -> None:
    directories = [tmp_path / name for name in "ab"]
    for directory in directories:
        directory.mkdir()
    program = "result = device.platform"
    with concurrent.futures.ThreadPoolExecutor() as pool:
        found = pool.map(
            lambda place: absent_gpu.compile_for(resolve("tpu:v5e"), program, place), directories
        )
        assert list(found) == ["tpu", "tpu"]


def test_every_tpu_that_is_listed_says_what_does_not_fit(tmp_path: Path) -> None:
    targets = {target.name: target for target in every_target() if target.kind == "tpu"}
    described = {name: target.description for name, target in targets.items()}
    program = f"""
result = {{}}
x = jax.ShapeDtypeStruct((200_000, 200_000), jnp.float32)
for name, description in {described!r}.items():
    device = deviceless.device(description)
    try:
        lowered = deviceless.lower(jax.jit(lambda x: x @ x + 1), (x,), {{}}, device)
        deviceless.compile_lowered(lowered, device)
    except deviceless.Unavailable as error:
        result[name] = str(error)
"""
    found = absent_gpu.compile_for(resolve("tpu:v5e"), program, tmp_path)
    assert set(found) == set(targets)
    for name, reason in found.items():
        assert reason.startswith("it does not fit on the chip")
        chip = targets[name].chip
        assert chip is not None
        assert f"({chip.memory / (1 << 30):.2f}G)" in reason, name
