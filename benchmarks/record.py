#!/usr/bin/env python3
"""What recording costs a program that is warm: the ratio of times with the recorder and without.

    python benchmarks/record.py [--pairs 40] [--calls 4000] [--json FILE]

Two processes, one bare and one under the recorder, each with the same jitted training step (and an eager operation
and an Equinox boundary besides), do the same number of calls in turns: A B, B A, A B, ... The processes never run
at once, and what is compared is processor time, so that what else the machine does hardly matters. A pair of
neighbouring turns gives one ratio; reported are the median ratio and its 95 % interval (bootstrap over the pairs,
10,000 draws). What a trace (of nine arrays) costs more, and the time to start and warm up (wall), are reported too:
that is where the recorder does something.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = """
import sys, time
begun = time.perf_counter()
import equinox as eqx
import jax
import jax.numpy as jnp

@jax.jit
def step(params, batch):
    return jax.tree.map(lambda p: p - 0.1 * batch.mean() * p, params)

@eqx.filter_jit
def predict(model, x):
    return model(x)

params = {f"w{i}": jnp.ones((16, 16)) for i in range(8)}
batch = jnp.ones((32, 16))
model = eqx.nn.Linear(16, 16, key=jax.random.key(0))
x = jnp.ones(16)

def work(calls):
    global params
    for _ in range(calls):
        params = step(params, batch)
        predict(model, x)
        x + 1.0
    jax.block_until_ready(params)

def trace(times):
    for _ in range(times):
        jax.jit(lambda params, batch: step.__wrapped__(params, batch)).trace(params, batch)

work(50)
print(time.perf_counter() - begun, flush=True)
for line in sys.stdin:
    begun = time.process_time()
    what, times = line.split()
    {"work": work, "trace": trace}[what](int(times))
    print(time.process_time() - begun, flush=True)
"""


class Program:
    """A running program that works when it is told to."""

    def __init__(self, recorded: bool, directory: str) -> None:
        command = [sys.executable, "-c", PROGRAM]
        if recorded:
            path = os.path.join(directory, "record.jsonl")
            command = [sys.executable, "-m", "jaxlint", "record", "-o", path, "--", *command]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "JAX_PLATFORMS": "cpu"},
        )
        self.start = self._answer()

    def do(self, what: str, times: int) -> float:
        """Seconds of processor time that a number of calls ("work") or of traces ("trace") takes."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{what} {times}\n")
        self._process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _answer(self) -> float:
        assert self._process.stdout is not None
        return float(self._process.stdout.readline())


def interval(ratios: list[float], draws: int = 10_000) -> tuple[float, float]:
    """The 95 % interval of the median, by bootstrap."""
    chance = random.Random(0)
    medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(draws))
    return medians[int(0.025 * draws)], medians[int(0.975 * draws)]


def main() -> int:
    """Measure and print. 1 where the interval lies above 1.00 and reaches 1.02."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--calls", type=int, default=4000)
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        bare, recorded = Program(False, directory), Program(True, directory)
        for program in (bare, recorded):
            program.do("work", args.calls)
        ratios, seconds = [], []
        for pair in range(args.pairs):
            first, second = (bare, recorded) if pair % 2 == 0 else (recorded, bare)
            took = {first: first.do("work", args.calls), second: second.do("work", args.calls)}
            ratios.append(took[recorded] / took[bare])
            seconds.append(took[bare])
        traces = [(recorded.do("trace", 100) - bare.do("trace", 100)) / 100 for _ in range(9)]
        bare.close()
        recorded.close()
    low, high = interval(ratios)
    result = {
        "median_ratio": round(statistics.median(ratios), 4),
        "interval_95": [round(low, 4), round(high, 4)],
        "pairs": args.pairs,
        "calls": args.calls,
        "microseconds_a_round": round(statistics.median(seconds) / args.calls * 1e6, 1),
        "milliseconds_more_a_trace": round(statistics.median(traces) * 1e3, 2),
        "start_seconds": {"bare": round(bare.start, 2), "recorded": round(recorded.start, 2)},
        "measured": time.strftime("%Y-%m-%d"),
    }
    print(json.dumps(result, indent=2))
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n")
    return int(low > 1.0 and high >= 1.02)


if __name__ == "__main__":
    sys.exit(main())
