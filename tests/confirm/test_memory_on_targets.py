"""Claims about memory, tested on GPUs that are not there, from the command line to the report."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import absent_gpu
import jax
import pytest

from jaxlint.confirm.arms import memory
from jaxlint.confirm.arms.memory import Threshold
from jaxlint.confirm.targets import resolve

MIB = 1 << 20
PROGRAMS = Path(__file__).parents[2] / "fixtures" / "targets"


@pytest.fixture(autouse=True)
def _extra() -> None:
    absent_gpu.need_cuda_aot()


def check(source: str, targets: str, directory: Path, *options: str) -> str:
    """The report on a program, made where no CUDA toolkit is in sight."""
    (directory / "program.py").write_text(source)
    command = [sys.executable, "-m", "jaxlint", "check", "--isolated", "--no-cache", "--confirm"]
    done = absent_gpu.run_hidden(
        [*command, "--target", targets, "--timeout", "300", *options, "program.py"], directory
    )
    assert done.returncode in (0, 1), done.stderr[-3000:]
    return done.stdout


def verdicts(source: str, targets: str, directory: Path, code: str) -> dict[str, dict[str, Any]]:
    """The verdicts on the one finding of a code, by target."""
    findings = json.loads(check(source, targets, directory, "--preview", "--output-format", "json"))
    (found,) = [finding for finding in findings if finding["code"] == code]
    return {verdict["target"]: verdict for verdict in found["confirm"]}


@pytest.mark.parametrize(("n_outer", "written"), [(5, "15289.31"), (10, "30548.10"), (15, "45806.89")])
def test_the_published_figures_are_in_the_report(tmp_path: Path, n_outer: int, written: str) -> None:
    source = (PROGRAMS / "scan_memory.py").read_text().replace("N_outer = 10", f"N_outer = {n_outer}")
    report = check(source, "cuda:a6000", tmp_path)
    assert "JAX303" in report
    assert "confirmed on cuda:a6000" in report
    for arm, expected in (("as written", written), ("as fixed", "30.52")):
        (line,) = re.findall(rf"{arm}: argument .*", report)
        sums = f"temp + output {expected} MiB"
        for labelled in ("argument 30.52 MiB", "output 30.52 MiB", "alias 0 bytes", "temp ", sums):
            assert labelled in line


def test_a_wide_vmap_is_to_be_reduced_in_chunks_and_chunks_alone_do_not_do_it(tmp_path: Path) -> None:
    source = (PROGRAMS / "wide_vmap.py").read_text()
    found = verdicts(source, "cuda:h100", tmp_path, "JAX304")["cuda:h100"]
    assert found["verdict"] == "confirmed"
    written, reduced = (arm["temp_bytes"] / MIB for arm in found["arms"])
    assert written == pytest.approx(512, rel=0.02)
    assert reduced == pytest.approx(36 if jax.__version_info__ >= (0, 9) else 40, rel=0.1)
    assert (
        "refuted with lax.map(batch_size=4) alone: 296 MiB, 256 MiB of it for all the results"
        in found["reason"]
    )


def test_remat_inside_a_scan_is_confirmed_on_both(tmp_path: Path) -> None:
    source = (PROGRAMS / "scan_of_blocks.py").read_text()
    for verdict in verdicts(source, "cpu,cuda:h100", tmp_path, "JAX310").values():
        assert verdict["verdict"] == "confirmed"
        written, remat = (arm["temp_bytes"] for arm in verdict["arms"])
        assert remat < written / 2


UNROLLED = """
def block(h, w):
    a = jnp.tanh(h @ w[0])
    b = jax.nn.gelu(a @ w[1])
    return h + jax.nn.softmax(b @ w[2], axis=-1)

def gradient(block):
    def loss(ws, x):
        for i in range(8):
            x = block(x, [w[i] for w in ws])
        return (x * x).mean()
    return jax.jit(jax.grad(loss))

F32 = jnp.float32
args = ([jax.ShapeDtypeStruct((8, 1024, 1024), F32)] * 3, jax.ShapeDtypeStruct((8192, 1024), F32))
result = []
for f in (block, jax.checkpoint(block)):
    compiled = deviceless.compile_lowered(deviceless.lower(gradient(f), args, {}, device), device)
    stats = compiled.memory_analysis()
    names = ("argument", "output", "alias", "temp")
    figures = {f"{name}_bytes": getattr(stats, f"{name}_size_in_bytes") for name in names}
    result.append({**figures, "constant_bytes": 0, "seconds": 0.0, "peak": []})
"""


@pytest.mark.parametrize(("target", "outcome"), [("cpu", "refuted"), ("cuda:h100", "confirmed")])
def test_remat_of_unrolled_blocks_pays_on_the_gpu_and_not_on_a_cpu(
    tmp_path: Path, target: str, outcome: str
) -> None:
    written, remat = absent_gpu.compile_for(resolve(target), UNROLLED, tmp_path)
    judgement = memory.against_fix(written, remat, Threshold(64 * MIB, 0.05))
    assert judgement.outcome.value == outcome, judgement


def test_what_does_not_fit_on_the_chip_is_told(tmp_path: Path) -> None:
    source = (PROGRAMS / "scan_memory.py").read_text()
    found = verdicts(source, "cuda:l4", tmp_path, "JAX303")["cuda:l4"]
    assert "it needs 29.9 GiB, NVIDIA L4 has 22.5" in found["reason"]
