"""Which frames of the stack are the user's."""

from __future__ import annotations

import os
import sys
import sysconfig
from functools import lru_cache
from types import FrameType
from typing import Any

DEPTH = 12  # frames of a stack that are kept

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARIES = tuple(
    os.path.abspath(path) + os.sep
    for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
)
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


@lru_cache(maxsize=4096)
def is_user_file(path: str) -> bool:
    """Whether code of this file name is neither Python's, nor installed, nor ours."""
    if path.startswith("<"):
        return path.startswith(("<stdin>", "<ipython-input", "<jaxlint"))
    absolute = os.path.abspath(path)
    return not (
        absolute.startswith((_OURS, *_LIBRARIES)) or any(installed in absolute for installed in _INSTALLED)
    )


def is_user_frame(frame: FrameType) -> bool:
    """`<string>` is the program of `python -c`, and otherwise what dataclasses and the like have generated."""
    path = frame.f_code.co_filename
    if path == "<string>":
        return frame.f_globals.get("__name__") == "__main__"
    return is_user_file(path)


def user_stack(depth: int = DEPTH) -> list[list[Any]]:
    """The places of the user's frames, innermost first."""
    found: list[list[Any]] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(found) < depth:
        if is_user_frame(frame):
            found.append([_path(frame.f_code.co_filename), frame.f_lineno, _name(frame.f_code)])
        frame = frame.f_back
    return found


def place_of(code: Any) -> list[Any]:
    """Where a code object is defined: its first decorator's line, where it has decorators."""
    return [_path(code.co_filename), code.co_firstlineno, _name(code)]


def _name(code: Any) -> str:
    return str(getattr(code, "co_qualname", code.co_name))


@lru_cache(maxsize=4096)
def _path(path: str) -> str:
    return path if path.startswith("<") else os.path.abspath(path)
