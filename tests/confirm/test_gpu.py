"""What takes a real GPU. Skipped by name without one; `scripts/gpu_check.sh` runs these."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jaxlint.cli import main
from jaxlint.confirm.targets import resolve

pytestmark = pytest.mark.gpu

PROGRAM = """
import json
import jax, jax.numpy as jnp
from jaxlint.confirm.child import deviceless, peak, target_config

def outer(x):
    for _ in range(5):
        _, ys = jax.lax.scan(lambda c, _: (1 + jnp.cos(c**2),) * 2, x, None, 100)  # STACK
        x = ys[-1]
    return x

x = jax.ShapeDtypeStruct((200, 200, 200), jnp.float32)
here = jax.devices("gpu")[0]
described = deviceless.device({"platform": "cuda", "topology": "1x1x1", "options": {},
                               "config": target_config.run()})
result = {}
for name, device in (("here", None), ("described", described)):
    lowered = deviceless.lower(jax.jit(outer), (x,), {}, device)
    compiled, buffers = peak.compile_explained(lowered, device, ".")
    memory = compiled.memory_analysis()
    result[name] = [memory.temp_size_in_bytes + memory.output_size_in_bytes, buffers[0]["bytes"]]
result["limit"] = here.memory_stats()["bytes_limit"]
print(json.dumps(result))
"""


@functools.cache
def gpu() -> str:
    """The kind of the GPU here, "" where jax finds none."""
    ask = "import jax; print(jax.devices('gpu')[0].device_kind)"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


@pytest.fixture(autouse=True)
def _gpu() -> None:
    if not gpu():
        pytest.skip("needs a GPU")


def run(directory: Path) -> Any:
    script = directory / "program.py"
    script.write_text(PROGRAM)
    environment = {**os.environ, **resolve("gpu").environment}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_the_gpu_and_its_description_need_the_same(tmp_path: Path) -> None:
    found = run(tmp_path)
    assert found["here"] == found["described"]
    assert found["here"][1] == 100 * 200**3 * 4


def test_the_dump_is_a_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["targets", "--python", sys.executable, "--dump"]) == 0
    file = tmp_path / "here.txtpb"
    file.write_text(capsys.readouterr().out)
    capacity = resolve(f"cuda:{file}").capacity
    assert capacity is not None
    assert run(tmp_path)["limit"] <= capacity


def test_a_discarded_stack_is_confirmed_on_the_gpu_itself(tmp_path: Path) -> None:
    source = Path(__file__).parents[2] / "fixtures" / "targets" / "scan_memory.py"
    (tmp_path / "program.py").write_text(source.read_text().replace("N_outer = 10", "N_outer = 5"))
    command = [
        sys.executable,
        "-m",
        "jaxlint",
        "check",
        "--isolated",
        "--no-cache",
        "--confirm",
        "--target",
        "gpu",
    ]
    done = subprocess.run(
        [*command, "--python", sys.executable, "--timeout", "120", "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "confirmed on gpu" in done.stdout, done.stdout + done.stderr
    assert "temp + output 30.52 MiB" in done.stdout
