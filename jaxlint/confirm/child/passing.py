"""The most that arrays take at any moment of a statement outside jit: live arrays, counted as Python goes along.

Each operation outside jit makes its results before the next one begins, and they are alive for as long as Python
holds them. So it is enough to look whenever a function returns an array: it may be a new one. Scratch memory of
single operations is not counted.
"""

from __future__ import annotations

import sys
import time
from types import FrameType
from typing import Any

from . import state

_ARRAY = "ArrayImpl"
_ALL = 20_000  # looks before they are made seldom enough to take half of the time


class Peak:
    """Looks from `start` to `stop`."""

    def __init__(self) -> None:
        self.bytes = 0
        self._looks = 0
        self._next = 0.0
        self._last = (
            0  # the identity of the array that was returned last: often it goes through several functions
        )

    def start(self) -> None:
        """Begin to look."""
        self._look()
        sys.setprofile(self._profile)

    def stop(self) -> int:
        """The most bytes that were seen."""
        sys.setprofile(None)
        self._look()
        return self.bytes

    def _profile(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "return" and self._is_new(argument):
            now = time.perf_counter()
            if self._looks < _ALL or now >= self._next:
                self._look()
                self._next = 2 * time.perf_counter() - now

    def _is_new(self, returned: Any) -> bool:
        kind = type(returned)
        if kind in (list, tuple) and returned:
            returned, kind = returned[-1], type(returned[-1])
        if kind.__name__ != _ARRAY or id(returned) == self._last:
            return False
        self._last = id(returned)
        return True

    def _look(self) -> None:
        self._looks += 1
        if state.backend_started():
            self.bytes = max(self.bytes, state.live_bytes())
