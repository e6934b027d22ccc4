"""Room for recursion that a source can ask for."""

from __future__ import annotations

import sys
import threading

import pytest

from jaxlint.project.deep import with_deep_stack


def depth(levels: int) -> int:
    return 1 + depth(levels - 1) if levels else 0


def test_deeper_than_python_allows() -> None:
    limit, stack = sys.getrecursionlimit(), threading.stack_size()
    assert with_deep_stack(lambda: depth(20 * limit)) == 20 * limit
    assert (sys.getrecursionlimit(), threading.stack_size()) == (limit, stack)


def test_what_is_raised_arrives() -> None:
    with pytest.raises(KeyError, match="lost"):
        with_deep_stack(lambda: {}["lost"])
    assert with_deep_stack(lambda: with_deep_stack(lambda: depth(5_000))) == 5_000


def test_no_room_for_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert with_deep_stack(lambda: depth(10)) == 10
