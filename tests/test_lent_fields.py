"""JAX211 where one method of an object hands a buffer to jax and another one writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint import registry
from jaxlint.check import check
from jaxlint.project.files import discover
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings

_RING = """\
import jax
import jax.numpy as jnp
import numpy as np


class Ring:
    def __init__(self):
        self.storage = np.zeros((8, 64, 96), {dtype})
        self.cursor = 0

    def push(self, frame):
        self._store(frame)
        self.cursor = (self.cursor + 1) % 8

    def _store(self, frame):
        self.storage[self.cursor] = frame

    def to_device(self):
        return jax.device_put(self.storage{copy})


"""
_IN_A_LOOP = """\
def main(frames):
    ring = Ring()
    seen = []
    for frame in frames:
        ring.push(frame)
        seen.append(ring.to_device())
    return seen
"""
_HELD = """\
class Detector:
    def __init__(self):
        self.ring = Ring()
        self.previous = None

    def feed(self, frame):
        self.ring.push(frame)
        current = self.ring.to_device()
        change = None if self.previous is None else jnp.abs(current - self.previous).max()
        self.previous = current
        return change


def main(frames):
    detector = Detector()
    return [detector.feed(frame) for frame in frames]
"""
_ON_TWO_WAYS = """\
class Detector:
    def __init__(self):
        self.ring = Ring()
        self.previous = None

    def feed(self, frame, bright):
        if bright:
            self.ring.push(frame)
        else:
            self.ring.push(frame * 2)
        current = self.ring.to_device()
        change = None if self.previous is None else jnp.abs(current - self.previous).max()
        self.previous = current
        return change


def main(frames, bright):
    detector = Detector()
    return [detector.feed(frame, bright) for frame in frames]
"""
_DONE_WITH = """\
def main(frames):
    ring = Ring()
    for frame in frames:
        ring.push(frame)
        latest = ring.to_device()
        print(latest.mean())
"""
_ONCE = """\
def main(frames):
    ring = Ring()
    for frame in frames:
        ring.push(frame)
    return ring.to_device()
"""
_ONCE_IN_A_METHOD = """\
class Loader:
    def __init__(self):
        self.ring = Ring()

    def load(self, frames):
        for frame in frames:
            self.ring.push(frame)
        return self.ring.to_device()


def main(frames):
    return Loader().load(frames)
"""


def lines(tmp_path: Path, use: str, dtype: str = "np.float32", copy: str = "") -> list[int]:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "program.py").write_text(_RING.format(dtype=dtype, copy=copy) + use)
    project = Project("", Settings(), [str(folder)])
    files = discover([str(folder)], project).files
    found = check(files, project, Settings(), registry.load(), jobs=1, cache=False)
    return [finding.span.line for finding in found if finding.code == "JAX211"]


@pytest.mark.parametrize("use", [_IN_A_LOOP, _HELD, _ON_TWO_WAYS])
def test_written_after_it_was_handed_over(tmp_path: Path, use: str) -> None:
    assert lines(tmp_path, use) == [16]


@pytest.mark.parametrize("use", [_DONE_WITH, _ONCE, _ONCE_IN_A_METHOD])
def test_filled_and_handed_over_once(tmp_path: Path, use: str) -> None:
    assert lines(tmp_path, use) == []


def test_copied_by_the_method(tmp_path: Path) -> None:
    assert lines(tmp_path, _HELD, copy=".copy()") == []


def test_converted_by_jax(tmp_path: Path) -> None:
    assert lines(tmp_path, _HELD, dtype="np.float64") == []
