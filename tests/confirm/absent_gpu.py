"""Runs programs as on a machine that has the extra `cuda-aot` and no CUDA toolkit of its own.

XLA takes any ptxas that it finds on PATH or below /usr/local/cuda, so a toolkit would hide that the extra lacks
something. Where there is one, the program gets a mount namespace of its own in which it is empty.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from jaxlint.confirm.targets import Target

_HIDE = """
set -e
empty=$1; shift
for place in /usr/local/cuda*; do
    if [ -d "$place" ]; then mount --bind "$empty" "$(readlink -f "$place")"; fi
done
exec "$@"
"""


def need_cuda_aot() -> None:
    """Skip the test without the extra; in CI, which installs it, fail."""
    try:
        version("jax-cuda12-pjrt")
        version("nvidia-cuda-nvcc-cu12")
    except PackageNotFoundError as error:
        reason = f"needs the extra cuda-aot: {error.name or error} is not installed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)


def run_hidden(command: list[str], directory: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program with any CUDA toolkit of this machine out of its sight."""
    kept = [place for place in os.environ["PATH"].split(os.pathsep) if not shutil.which("ptxas", path=place)]
    return subprocess.run(
        [*_hiding(directory), *command],
        cwd=directory,
        env={**os.environ, "PATH": os.pathsep.join(kept), **environment},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


def _hiding(directory: Path) -> list[str]:
    if not glob.glob("/usr/local/cuda*"):
        return []
    own = ["-m"] if os.geteuid() == 0 else ["-r", "-m"]
    unshare = shutil.which("unshare")
    if (
        unshare is None
        or subprocess.run([unshare, *own, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("cannot hide the CUDA toolkit of this machine: no unshare(1), or no right to use it")
    empty = directory / "no-toolkit"
    empty.mkdir(exist_ok=True)
    return [unshare, *own, "sh", "-c", _HIDE, "sh", str(empty)]


def compile_for(target: Target, program: str, directory: Path) -> Any:
    """What `program` puts into `result`, with `deviceless`, `peak`, `jax`, `jnp` and `device` at hand."""
    script = directory / "program.py"
    answer = directory / "answer.json"
    script.write_text(
        "import json\n"
        "from jaxlint.confirm.child import deviceless, peak, target_config\n"
        "import jax, jax.numpy as jnp\n"
        f"device = deviceless.device(json.loads({json.dumps(json.dumps(target.description))}))\n"
        f"{program}\n"
        f"json.dump(result, open({str(answer)!r}, 'w'))\n"
    )
    done = run_hidden([sys.executable, str(script)], directory, **target.environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(answer.read_text())
