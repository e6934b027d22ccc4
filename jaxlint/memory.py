"""The garbage collector during a run.

Syntax trees are millions of objects that are no garbage, and while they are made the collector would look
through all of them again and again: two thirds of a run's time. So it is off, and called where a run has left
something behind. What lives then is not looked at again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_OBJECTS = 200_000  # made and not yet freed between two collections


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


def note() -> None:
    """Something was analysed, and nothing of it is needed any more."""
    if gc.get_count()[0] > _OBJECTS:  # counted while nothing is collected, too
        gc.collect()
        gc.freeze()
