"""Writing files: whole or not at all, whatever fails at whichever step."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from jaxlint.project import writing

STEPS = ("open", "fdopen", "fsync", "chmod", "replace")


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_a_new_file_obeys_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        writing.write(str(tmp_path / "a"), b"new")
    finally:
        os.umask(before)
    assert (tmp_path / "a").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    assert names(tmp_path) == ["a"]


def test_permissions_stay(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o751)
    writing.write(str(path), b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o751


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real/a")
    writing.write(str(tmp_path / "link"), b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "a").read_bytes() == b"new"
    assert names(tmp_path) == ["link", "real"]
    assert names(tmp_path / "real") == ["a"]


def test_a_name_as_long_as_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    writing.write(str(path), b"new")
    assert path.read_bytes() == b"new"


def test_what_may_not_be_written_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everything
    with pytest.raises(PermissionError):
        writing.write(str(path), b"new")
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_fails_leaves_the_file(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(OSError, match="No space"):
            writing.write(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_a_step_leaves_the_old_or_the_new(step: str, when: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old" * 1000)
    program = f"""
import os, signal
from jaxlint.project import writing
real = os.{step}
def killed(*arguments, **options):
    if {when == "after"}:
        real(*arguments, **options)
    os.kill(os.getpid(), signal.SIGKILL)
os.{step} = killed
writing.write({str(path)!r}, b"new" * 1000)
"""
    child = subprocess.run([sys.executable, "-c", program], check=False, timeout=60)
    assert child.returncode == -9
    assert path.read_bytes() == (b"new" if (step, when) == ("replace", "after") else b"old") * 1000


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        writing.write(str(tmp_path / "pipe"), b"new")
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)
    assert names(tmp_path) == ["pipe"] and stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    with pytest.raises(IsADirectoryError):
        writing.write(str(tmp_path), b"new")
