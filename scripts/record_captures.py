"""Make the captures in fixtures/captures anew.

    python scripts/record_captures.py [NAME...]

`train.py` there is run on the CPU under the profiler, in three variants. The programs in `scenarios.py` are
compiled for a GPU that need not be there (`h100_2850mib.txtpb` describes it), which needs the packages
jax-cuda12-plugin, jax-cuda12-pjrt and nvidia-cuda-nvcc-cu12 beside jax, and a PATH without another CUDA toolkit.
What is kept of each is the module with its memory plan. The sizes that `memory_analysis()` gives stand beside every
capture: they are what the reader has to agree with.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "captures"
TARGET = "h100_2850mib.txtpb"
RUNS = ("plain", "donated", "remat")
DUMPED = "gradient"  # of which the whole dump is kept, as text


def main(names: list[str]) -> None:
    """Record what is named, or everything."""
    scenarios = sorted(path.name.removesuffix(".hlo_proto.pb") for path in FIXTURES.glob("*.hlo_proto.pb"))
    for name in names or [*RUNS, *scenarios]:
        with tempfile.TemporaryDirectory(prefix="train-") as scratch:
            (_record_run if name in RUNS else _record_plan)(name, Path(scratch))


def _record_run(name: str, scratch: Path) -> None:
    output = _run(scratch, "train.py", name)
    shutil.copy(next(output.rglob("*.xplane.pb")), FIXTURES / f"{name}.xplane.pb")
    shutil.copy(output / "memory.prof", FIXTURES / f"{name}.memory.prof")


def _record_plan(name: str, scratch: Path) -> None:
    shutil.copy(FIXTURES / TARGET, scratch / TARGET)
    output = _run(scratch, "scenarios.py", name, TARGET)
    shutil.copy(next(output.glob("*gpu_after_optimizations.hlo.pb")), FIXTURES / f"{name}.hlo_proto.pb")
    if name == DUMPED:
        (FIXTURES / "dump").mkdir(exist_ok=True)
        for part in ("", "-buffer-assignment", "-live-range", "-memory-usage-report"):
            shutil.copy(next(output.glob(f"*gpu_after_optimizations{part}.txt")), FIXTURES / "dump")


def _run(scratch: Path, program: str, name: str, *arguments: str) -> Path:
    """Run a program where its path says nothing of this machine; where its output is."""
    shutil.copy(FIXTURES / program, scratch / program)
    output = scratch / "output"
    output.mkdir()
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, program, name, *arguments, output.name]
    subprocess.run(command, cwd=scratch, env=environment, check=True)
    shutil.copy(output / "memory_analysis.json", FIXTURES / f"{name}.memory_analysis.json")
    print(name)
    return output


if __name__ == "__main__":
    main(sys.argv[1:])
