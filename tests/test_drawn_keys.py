"""JAX110: a key that a helper stores by a draw of its own, or as the records it is given have one by a draw."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.cli import main

PROGRAM = """\
import jax
import numpy as np

RNG = np.random.default_rng(0)


@jax.jit
def step(batch):
    return sum(x.sum() for x in batch.values())


def draw():
    kind = {kind}
    records = []
    for _ in range(4):
        record = {{"x": np.zeros(3, np.float32)}}
        if kind == "boxed":
            record["box"] = np.zeros(4, np.float32)
        records.append(record)
    return records


def collate(records):
    out = {out}
    if {test}:
        out["boxes"] = np.zeros((4, 4), np.float32)
    return out


{calls}
"""
DRAWN = 'RNG.choice(["boxed", "plain"])'
DISPLAY = '{"x": np.stack([r["x"] for r in records])}'
COMPREHENSION = '{k: np.stack([r[k] for r in records]) for k in ("x",)}'
ALL = 'all("box" in r for r in records)'
LOOP = """\
for _ in range(9):
    step(collate(draw()))
"""
GENERATOR = """\
def batches():
    for _ in range(9):
        yield collate(draw())


for batch in batches():
    step(batch)
"""
DRAWN_ONCE = """\
records = draw()
for _ in range(9):
    step(collate(records))
"""


def lines(root: Path, capsys: pytest.CaptureFixture[str], **parts: str) -> list[int]:
    file = root / "program.py"
    parts = {"kind": DRAWN, "out": DISPLAY, "test": ALL, "calls": LOOP, **parts}
    file.write_text(PROGRAM.format(**parts))
    main(["check", "--no-cache", "--select", "JAX110", "--output-format", "concise", str(file)])
    return [int(line.split(":")[1]) for line in capsys.readouterr().out.splitlines() if "JAX110" in line]


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"out": COMPREHENSION},
        {"calls": GENERATOR},
        {"test": '"box" in records[0]'},
        {"test": "RNG.random() < 0.5", "kind": '"plain"'},
    ],
)
def test_drawn_in_each_call(
    parts: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lines(tmp_path, capsys, **parts) == [26]


@pytest.mark.parametrize(
    "parts",
    [
        {"kind": '"boxed"'},
        {"calls": DRAWN_ONCE},
        {"test": '"mask" in records[0]'},
        {"out": '{k: np.zeros(3) for k in ("x", "boxes")}'},
    ],
)
def test_the_same_in_all_rounds(
    parts: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lines(tmp_path, capsys, **parts) == []
