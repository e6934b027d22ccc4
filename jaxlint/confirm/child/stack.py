"""Which frames are the user's: those of neither an installed library nor Python nor this worker."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from types import FrameType, TracebackType

Place = list[object]  # [file, line, function]

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_PYTHON = os.path.abspath(sysconfig.get_paths()["stdlib"]) + os.sep
_LIBRARIES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


@functools.cache
def is_user(file: str) -> bool:
    """Whether a code object of this file is the user's."""
    if file.startswith(("<", _HERE, _PYTHON)):
        return False
    return not any(part in file for part in _LIBRARIES)


def user_stack(frame: FrameType | None = None, limit: int = 40) -> list[Place]:
    """The user's frames, innermost first, from a frame or the caller's outwards."""
    frame = frame or sys._getframe(1)
    found: list[Place] = []
    at: FrameType | None = frame
    while at is not None and len(found) < limit:
        if is_user(at.f_code.co_filename):
            found.append([at.f_code.co_filename, at.f_lineno, at.f_code.co_name])
        at = at.f_back
    return found


def raised_at(traceback: TracebackType | None) -> Place | None:
    """The innermost of the user's frames that an exception has gone through."""
    found: Place | None = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_user(code.co_filename):
            found = [code.co_filename, traceback.tb_lineno, code.co_name]
        traceback = traceback.tb_next
    return found
