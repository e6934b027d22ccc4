"""Compiling for a GPU that is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import absent_gpu
import pytest

from jaxlint.confirm.targets import every_target, resolve

MIB = 1 << 20

SCAN = """
def inner(x, n):
    def body(x, _):
        x = 1 + jnp.cos(x**2)
        return x, x
    _, xs = jax.lax.scan(body, x, None, n)
    return xs[-1]

def carried(x, n):
    x, _ = jax.lax.scan(lambda x, _: (1 + jnp.cos(x**2), None), x, None, n)
    return x

def outer(x, inner, n_outer):
    for _ in range(n_outer):
        x = inner(x, 100)
    return x

A = jax.ShapeDtypeStruct((200, 200, 200), jnp.float32)
result = {}
for name, f in (("as written", inner), ("carry", carried)):
    for n in (5, 10, 15):
        lowered = deviceless.lower(jax.jit(outer, static_argnums=(1, 2)), (A, f, n), {}, device)
        memory = deviceless.compile_lowered(lowered, device).memory_analysis()
        result[f"{name} {n}"] = memory.temp_size_in_bytes + memory.output_size_in_bytes
"""

# Published for a real RTX A6000 with jax 0.5.0, in units of 2**20 bytes.
PUBLISHED = {"as written 5": "15289.31", "as written 10": "30548.10", "as written 15": "45806.89"}


@pytest.fixture(autouse=True)
def _extra() -> None:
    absent_gpu.need_cuda_aot()


def compiled(program: str, directory: Path, target: str = "cuda:h100") -> Any:
    return absent_gpu.compile_for(resolve(target), program, directory)


def test_the_published_figures_of_a_real_a6000(tmp_path: Path) -> None:
    found = compiled(SCAN, tmp_path, "cuda:a6000")
    in_mb = {name: f"{size / MIB:.2f}" for name, size in found.items()}
    assert in_mb == {**PUBLISHED, "carry 5": "30.52", "carry 10": "30.52", "carry 15": "30.52"}


def test_every_gpu_that_is_listed_can_be_compiled_for(tmp_path: Path) -> None:
    described = {target.name: target.description for target in every_target() if target.kind == "cuda"}
    program = f"""
described = {described!r}
result = {{}}
for name, description in described.items():
    device = deviceless.device(description)
    x = jax.ShapeDtypeStruct((256, 256), jnp.float32)
    lowered = deviceless.lower(jax.jit(lambda x: jnp.sort(x @ x) + 1), (x,), {{}}, device)
    memory = deviceless.compile_lowered(lowered, device).memory_analysis()
    result[name] = [device.device_kind, memory.argument_size_in_bytes, memory.output_size_in_bytes]
"""
    found = compiled(program, tmp_path)
    expected = {
        target.name: [target.chip.name, 256 * 256 * 4, 256 * 256 * 4]
        for target in every_target()
        if target.kind == "cuda"
    }
    assert found == expected


def test_what_xla_knows_of_the_chip_is_what_it_was_told(tmp_path: Path) -> None:
    told = compiled("result = target_config.of([device])", tmp_path, "cuda:l40s")
    for line in resolve("cuda:l40s").description["config"].splitlines():
        name, _, value = line.strip().partition(": ")
        if value and "{" not in name:
            assert f"{name}: {value}" in told


def test_a_function_without_arguments_is_compiled_for_the_target_too(tmp_path: Path) -> None:
    program = """
@jax.jit
def init():
    return jnp.ones((512, 512)) @ jnp.ones((512, 512))
lowered = deviceless.lower(init, (), {}, device)
compiled = deviceless.compile_lowered(lowered, device)
result = [d.platform for d in compiled.output_shardings.device_set]
"""
    assert compiled(program, tmp_path) == ["gpu"]


def test_what_was_compiled_for_this_machine_is_not_taken_for_the_target(tmp_path: Path) -> None:
    program = """
lowered = jax.jit(lambda: jnp.ones(3)).lower()
try:
    deviceless.compile_lowered(lowered, device)
    result = None
except deviceless.Unavailable as error:
    result = str(error)
"""
    assert compiled(program, tmp_path) == "jax compiled it for another device than the target"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("jax.debug.print('{}', x.sum()); return x", "it calls back into Python (jax.debug.print"),
        ("return jax.pure_callback(lambda a: a, x, x)", "it calls back into Python (jax.debug.print"),
        (
            "mesh = jax.sharding.Mesh(jax.devices(), ('d',)); P = jax.sharding.PartitionSpec;"
            "return jax.lax.with_sharding_constraint(x, jax.sharding.NamedSharding(mesh, P('d')))",
            "it places arrays on devices of this machine",
        ),
        ("return x + len(jax.devices('gpu'))", "it asks for a device that this machine has not"),
    ],
)
def test_what_cannot_be_compiled_for_an_absent_gpu_says_why(tmp_path: Path, body: str, reason: str) -> None:
    program = f"""
@jax.jit
def f(x):
    {body}
try:
    deviceless.lower(f, (jax.ShapeDtypeStruct((8,), jnp.float32),), {{}}, device)
    result = None
except deviceless.Unavailable as error:
    result = str(error)
"""
    assert compiled(program, tmp_path).startswith(reason)


def test_errors_of_the_program_itself_stay_what_they_are(tmp_path: Path) -> None:
    program = """
@jax.jit
def f(x):
    if x.sum() > 0:
        return x
try:
    deviceless.lower(f, (jax.ShapeDtypeStruct((8,), jnp.float32),), {}, device)
except jax.errors.TracerBoolConversionError as error:
    result = type(error).__name__
"""
    assert compiled(program, tmp_path) == "TracerBoolConversionError"


def test_keys_static_values_and_weak_types_are_placed_as_they_are(tmp_path: Path) -> None:
    program = """
key = jax.eval_shape(lambda: jax.random.key(0))
args = {"key": key, "n": 3, "name": "adam", "x": jnp.asarray(1.0)}
placed = deviceless.placed(args, device)
result = {
    "n": placed["n"], "name": placed["name"],
    "key": str(placed["key"].dtype),
    "weak": placed["x"].weak_type,
    "platform": [d.platform for d in placed["key"].sharding.device_set],
}
"""
    expected = {"n": 3, "name": "adam", "key": "key<fry>", "weak": True, "platform": ["gpu"]}
    assert compiled(program, tmp_path) == expected
