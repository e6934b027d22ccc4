"""Files that are written whole or not at all: another name first, then renamed.

Whoever reads meanwhile sees the old content or the new one, and so does whoever looks after a crash. What a
rename cannot keep is a hard link: the other names go on leading to the old content.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable

# What nobody may write is read-only for root too, though root could.
_ANYBODY_WRITES = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def write(path: str, data: bytes) -> None:
    """Give a file a new content, or make it. Raises OSError, and then the file is as it was.

    A symbolic link is followed, so that what it leads to is written; permissions and owner stay. A file that
    may not be written is not replaced either, though its directory would allow it. What is no file (a terminal, a
    pipe) takes what it is given.
    """
    target = os.path.realpath(path)
    existing = _status(target)
    if existing is not None and not (existing.st_mode & _ANYBODY_WRITES and os.access(target, os.W_OK)):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    if existing is not None and not stat.S_ISREG(existing.st_mode):
        with open(target, "wb") as stream:
            stream.write(data)
        return
    # In the same directory, since a rename does not reach another file system; the target's own name could make
    # this one too long.
    temporary = os.path.join(os.path.dirname(target), f".jaxlint-{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        _write_through(temporary, data)
        if existing is not None:
            _like(existing, temporary)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _remember_name(os.path.dirname(target))


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _write_through(path: str, data: bytes) -> None:
    """Make a file whose content is on the disk and not only on its way there."""
    binary = getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | binary, 0o666)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _like(existing: os.stat_result, path: str) -> None:
    """Give a file the owner and the permissions of another; the owner where that is allowed."""
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            os.chown(path, existing.st_uid, existing.st_gid)
    os.chmod(path, stat.S_IMODE(existing.st_mode))


def _remember_name(directory: str) -> None:
    """Get the rename itself onto the disk, where directories can be opened for that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def is_input(path: str, inputs: Iterable[str]) -> bool:
    """Whether writing there would replace a file that was given to be read, or one in a directory that was."""
    if not os.path.exists(path):
        return False
    given = [name for name in inputs if os.path.exists(name)]
    if any(os.path.samefile(path, name) for name in given):
        return True
    folders = [os.path.realpath(name) for name in given if os.path.isdir(name)]
    return any(os.path.realpath(path).startswith(os.path.join(folder, "")) for folder in folders)
