#!/usr/bin/env python3
"""Record profiler captures of programs that run out of GPU memory, and of one that does not.

    python scripts/record_oom_captures.py DIRECTORY           on a GPU: all at once, each in a pool of its own
    python scripts/record_oom_captures.py DIRECTORY --tiny    on a CPU: that the script works; nothing runs out

Each program writes NAME.xplane.pb (capture), NAME.prof (device memory profile) and NAME.json (error, plan,
memory_stats, versions). Needs jax alone.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import time
from typing import Any

from oom_programs import NAMES, program

POOL_MIB = 2850  # of the card, for each program
PATIENCE = 150.0  # seconds for all of them
STEPS, STEPS_KEEPING = 3, 40
ATTENTION_LAYERS = (4, 6, 8, 12, 16)
SURELY = 1.15  # times the pool: a plan this large cannot fit


def main() -> int:
    """Start a process for each program and wait. 0 if each has left a capture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--only", choices=NAMES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    directory = os.path.abspath(args.directory)
    os.makedirs(directory, exist_ok=True)
    if args.only:
        _record(args.only, directory, args.tiny)
        return 0
    running = {name: _start(name, directory, args.tiny) for name in NAMES}
    deadline = time.monotonic() + PATIENCE
    good = True
    for name, process in running.items():
        try:
            process.wait(max(1.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        good &= _tell(name, directory)
    return 0 if good else 1


def _start(name: str, directory: str, tiny: bool) -> subprocess.Popen[bytes]:
    environment = dict(os.environ, XLA_PYTHON_CLIENT_PREALLOCATE="true", TF_CPP_MIN_LOG_LEVEL="1")
    if total := _card_mib():
        environment["XLA_PYTHON_CLIENT_MEM_FRACTION"] = f"{POOL_MIB / total:.5f}"
    command = [sys.executable, os.path.abspath(__file__), directory, "--only", name, *["--tiny"][: int(tiny)]]
    with open(os.path.join(directory, f"{name}.log"), "wb") as log:
        return subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)


def _card_mib() -> int:
    """The memory of the first card in MiB, 0 where there is none."""
    query = ["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    try:
        return int(subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0])
    except (OSError, subprocess.CalledProcessError, IndexError, ValueError):
        return 0


def _tell(name: str, directory: str) -> bool:
    """One line on what became of a program; whether it left a capture."""
    try:
        with open(os.path.join(directory, f"{name}.json")) as file:
            about = json.load(file)
    except (OSError, ValueError):
        print(f"{name}: no result, see {name}.log")
        return False
    error = " ".join(str(about.get("error", "none")).split())[:120]
    captured = about.get("capture_bytes", 0)
    print(f"{name}: {about['steps']} steps, capture of {captured} bytes, error: {error}")
    return bool(captured)


# ---------------------------------------------------------------- in the process of one program


def _record(name: str, directory: str, tiny: bool) -> None:
    import jax
    import jaxlib

    device = jax.devices()[0]
    pool = (device.memory_stats() or {}).get("bytes_limit")
    about: dict[str, Any] = {
        "program": name,
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
        "backend": jax.default_backend(),
        "device": device.device_kind,
        "platform_version": device.client.platform_version,
        "pool_bytes": pool,
        "environment": {key: value for key, value in os.environ.items() if key.startswith(("XLA", "JAX"))},
    }
    chosen, about["memory_analysis"] = _planned(name, tiny, pool)
    traces = os.path.join(directory, f"trace_{name}")
    shutil.rmtree(traces, ignore_errors=True)
    about["steps"], error = _train(chosen, traces, tiny)
    if error is not None:
        about["error"], about["error_type"] = str(error)[:6000], type(error).__name__
    about["memory_stats"] = device.memory_stats()
    jax.profiler.save_device_memory_profile(os.path.join(directory, f"{name}.prof"))
    for capture in glob.glob(f"{traces}/**/*.xplane.pb", recursive=True)[:1]:
        shutil.copy(capture, os.path.join(directory, f"{name}.xplane.pb"))
        about["capture_bytes"] = os.path.getsize(capture)
    shutil.rmtree(traces, ignore_errors=True)
    with open(os.path.join(directory, f"{name}.json"), "w") as file:
        json.dump(about, file, indent=1, default=str)


def _planned(name: str, tiny: bool, pool: int | None) -> tuple[Any, dict[str, int]]:
    """The program and its memory_analysis; of attention as many layers as it takes to exceed the pool."""
    chosen, plan = program(name, tiny), {}
    for layers in ATTENTION_LAYERS:
        chosen = program(name, tiny, layers)
        plan = _plan(chosen)
        needed = plan["temp_size_in_bytes"] + plan["argument_size_in_bytes"]
        if name != "attention" or not pool or needed > SURELY * pool:
            break
    return chosen, plan


def _plan(chosen: Any) -> dict[str, int]:
    import jax

    key = jax.random.key(0)
    shapes = jax.eval_shape(chosen.init, key), jax.eval_shape(chosen.batch, key)
    analysis = chosen.step.lower(*shapes).compile().memory_analysis()
    return {field: getattr(analysis, field) for field in dir(analysis) if field.endswith("in_bytes")}


def _train(chosen: Any, traces: str, tiny: bool) -> tuple[int, Exception | None]:
    """Train under the profiler. The steps that were completed, and what ended it."""
    import jax

    steps = STEPS_KEEPING if chosen.keeps_gradients and not tiny else STEPS
    kept, done = [], 0
    try:
        state = jax.jit(chosen.init)(jax.random.key(0))
        host = jax.device_get(jax.jit(chosen.batch)(jax.random.key(1)))
        with jax.profiler.trace(traces):
            for _ in range(steps):
                state, *rest = chosen.step(state, jax.device_put(host))
                kept.append(rest[1:])  # the gradients, where the step returns them
                jax.block_until_ready(state)
                done += 1
    except Exception as error:
        return done, error
    return done, None


if __name__ == "__main__":
    sys.exit(main())
