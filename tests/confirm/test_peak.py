"""The buffers that are live at the peak, and the lines that make them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import absent_gpu
import pytest

from jaxlint.confirm.arms import memory
from jaxlint.confirm.targets import resolve
from jaxlint.confirm.verdict import AS_WRITTEN

MIB = 1 << 20

PROGRAM = """
def layers(ws, x):
    def body(h, w):
        h = jnp.tanh(h @ w)  # STACKED
        return h, None
    h, _ = jax.lax.scan(body, x, ws)  # SCAN
    return (h * h).mean()
step = jax.jit(jax.grad(layers))

@jax.jit
def spectrum(x):
    y = jnp.fft.fft(x)  # FFT
    return jnp.abs(y).sum()

F32 = jnp.float32
shape = jax.ShapeDtypeStruct
cases = {
    "step": (step, (shape((24, 512, 512), F32), shape((8192, 512), F32))),
    "spectrum": (spectrum, (shape((1024, 1024), F32),)),
}
result = {}
for name, (f, args) in cases.items():
    lowered = deviceless.lower(f, args, {}, device)
    compiled, buffers = peak.compile_explained(lowered, device, ROOT)
    result[name] = [compiled.memory_analysis().temp_size_in_bytes, buffers]
"""


@pytest.mark.parametrize("target", ["cpu", "cuda:a6000"])
def test_the_largest_buffers_are_told_with_their_lines(tmp_path: Path, target: str) -> None:
    if target != "cpu":
        absent_gpu.need_cuda_aot()
    program = PROGRAM.replace("ROOT", repr(str(tmp_path)))
    found = absent_gpu.compile_for(resolve(target), program, tmp_path)
    lines = (tmp_path / "program.py").read_text().splitlines()

    def source(place: list[Any]) -> str:
        assert place[0] == str(tmp_path / "program.py")
        return lines[place[1] - 1]

    temp, buffers = found["step"]
    sizes = [buffer["bytes"] for buffer in buffers]
    assert sizes == sorted(sizes, reverse=True)
    stacks = [buffer for buffer in buffers if buffer["shape"] == "f32[24,8192,512]"]
    assert len(stacks) >= 2
    assert sum(buffer["bytes"] for buffer in stacks) <= temp
    for buffer in stacks:
        assert buffer["bytes"] == 24 * 8192 * 512 * 4
        assert buffer["kind"] == "temp"
        assert buffer["op"] == "scan"
        assert "# SCAN" in source(buffer["place"])
    assert any(buffer["stacks"] and "# STACKED" in source(buffer["stacks"]) for buffer in stacks)
    weights = [buffer for buffer in buffers if buffer["kind"] == "argument"]
    assert {"name": "ws", "shape": "f32[24,512,512]"}.items() <= weights[0].items()

    temp, buffers = found["spectrum"]
    spectrum = next(buffer for buffer in buffers if buffer["shape"] == "c64[1024,1024]")
    assert spectrum["bytes"] == 8 * MIB
    assert "# FFT" in source(spectrum["place"])


def test_nothing_is_left_in_the_temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    program = """
compiled, _ = peak.compile_explained(jax.jit(jnp.sin).lower(1.0), device, ".")
result = float(compiled(0.0))
"""
    assert absent_gpu.compile_for(resolve("cpu"), program, tmp_path) == 0.0
    assert list(temporary.iterdir()) == []


def test_buffers_that_read_the_same_are_listed_once() -> None:
    one = {"bytes": 4096, "shape": "f32[1024]", "kind": "temp", "place": ["/p/a.py", 7, "f"], "stacks": None}
    parts = dict.fromkeys(("argument", "output", "alias", "temp", "constant"), 0)
    figures = {f"{part}_bytes": size for part, size in parts.items()}
    found = memory.arm(AS_WRITTEN, {**figures, "seconds": 0.0, "peak": [one, {**one, "bytes": 2048}, one]})
    assert found.peak == (
        "2 x 4.0 KiB f32[1024] (temp), made at a.py:7",
        "2.0 KiB f32[1024] (temp), made at a.py:7",
    )
