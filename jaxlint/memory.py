"""The garbage collector during a run.

Syntax trees are millions of objects that are no garbage, and while they are made the collector would look
through all of them again and again: two thirds of a run's time. So it is off, and called where a run has left
something behind. What lives then is not looked at again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_LINES = 20_000  # of analysed modules between two collections

_noted = 0


@contextmanager
def kept() -> Iterator[None]:
    """Collect no garbage in this block but what `note` asks for."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()


def note(lines: int) -> None:
    """So many lines were analysed, and nothing of it is needed any more."""
    global _noted
    _noted += lines
    if _noted >= _LINES:
        _noted = 0
        gc.collect()
        gc.freeze()
