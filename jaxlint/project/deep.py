"""Room for deep recursion: an expression of a thousand terms is a tree a thousand nodes deep."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_STACK = 512 * 1024 * 1024  # bytes; address space only, pages are taken when touched
_FRAMES = 200_000


def with_deep_stack(function: Callable[[], T]) -> T:
    """Call a function in a thread with a large stack and a recursion limit to match.

    What it raises is raised here. Where the system has no room for such a thread the function is called as it
    is. It costs about a tenth of a millisecond.
    """
    import threading

    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(function())
        except BaseException as error:  # whatever it is belongs to the caller's thread
            errors.append(error)

    limit, stack = sys.getrecursionlimit(), threading.stack_size()
    sys.setrecursionlimit(max(limit, _FRAMES))
    try:
        threading.stack_size(_STACK)
        thread = threading.Thread(target=work, daemon=True)  # an interrupt does not wait for it
        try:
            thread.start()
        except (RuntimeError, MemoryError):
            return function()
        thread.join()
    finally:
        threading.stack_size(stack)
        sys.setrecursionlimit(limit)
    if errors:
        raise errors[0]
    return results[0]
