"""Writing a file whole or not at all, wherever the writer is stopped."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jaxlint.project import writing

OLD, NEW = b"old\n" * 50_000, b"new\n" * 70_000
# Everything that the writer asks of the system.
STEPS = ("stat", "access", "chown", "chmod", "fsync", "replace", "open", "close")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_bytes(OLD)
    path.chmod(0o640)
    return path


class Stop(BaseException):
    """What an interrupt is."""


class Steps:
    """The system, which lets the writer make some steps and then stops it, before or after the next."""

    def __init__(self, allowed: int, stop: Callable[[], None], *, after: bool) -> None:
        self._left = allowed
        self._stop = stop
        self._after = after
        self.stopped = False

    def __call__(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def made(*arguments: Any, **keywords: Any) -> Any:
            self._left -= 1
            last = self._left == -1
            if last and not self._after:
                self._halt()
            result = step(*arguments, **keywords)
            if last and self._after:
                self._halt()
            return result

        return made

    def _halt(self) -> None:
        self.stopped = True
        self._stop()


def rig(monkeypatch: pytest.MonkeyPatch, steps: Steps) -> None:
    """Have the writer make its steps through `steps`; those of a file being written count, too."""

    class Stream:
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        def write(self, data: bytes) -> None:
            half = len(data) // 2
            steps(self._stream.write)(data[:half])
            steps(self._stream.write)(data[half:])

        def __getattr__(self, name: str) -> Any:
            return steps(getattr(self._stream, name))

        def __enter__(self) -> Stream:
            return self

        def __exit__(self, *_: object) -> None:
            self._stream.close()

    class System:
        def __getattr__(self, name: str) -> Any:
            if name == "fdopen":
                return lambda *arguments: Stream(steps(os.fdopen)(*arguments))
            return steps(getattr(os, name)) if name in STEPS else getattr(os, name)

    monkeypatch.setattr(writing, "os", System())


def raising(error: BaseException) -> Callable[[], None]:
    def stop() -> None:
        raise error

    return stop


def whole(path: Path) -> bool:
    return path.read_bytes() in (OLD, NEW) and stat.S_IMODE(path.stat().st_mode) == 0o640


def test_content_and_permissions(path: Path) -> None:
    writing.write(str(path), NEW)
    assert path.read_bytes() == NEW
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(path.parent) == ["train.py"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_at_any_step(after: bool, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that dies at once, at each step in turn: the file is the old or the new one."""
    seen = set()
    for allowed in range(100):
        path.write_bytes(OLD)
        child = os.fork()
        if not child:
            try:
                rig(monkeypatch, Steps(allowed, lambda: os._exit(9), after=after))
                writing.write(str(path), NEW)
            finally:
                os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert whole(path)
        seen.add(path.read_bytes())
        if status == 0:
            break
    assert status == 0, "the writer makes more steps than were tried"
    assert allowed > 10, "the writer's steps were not seen"
    assert seen == {OLD, NEW}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "error",
    [OSError(28, "No space left on device"), Stop(), MemoryError()],
    ids=["full", "interrupt", "memory"],
)
def test_error_at_any_step(
    error: BaseException, after: bool, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is raised at any step leaves a whole file and nothing beside it."""
    for allowed in range(100):
        path.write_bytes(OLD)
        steps = Steps(allowed, raising(error), after=after)
        with monkeypatch.context() as patched:
            rig(patched, steps)
            with contextlib.suppress(OSError, Stop, MemoryError):
                writing.write(str(path), NEW)
        assert whole(path)
        left = [name for name in os.listdir(path.parent) if name != "train.py"]
        assert not left
        if not steps.stopped:
            return
    pytest.fail("the writer makes more steps than were tried")
