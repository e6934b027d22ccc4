"""What callers pass is followed only so far: a function may be its own caller, through others."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import pytest

from jaxlint.flow.syntax import outputs


def test_callers_that_go_in_a_circle_give_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    frame: Any = SimpleNamespace(function=SimpleNamespace(index={"x": 0}, keyword_only=frozenset()))
    given = ast.Name("x", ast.Load(), lineno=1)
    looked: list[int] = []

    def source(at: Any, node: ast.expr, line: int, depth: int) -> Any:
        looked.append(depth)
        return outputs._passed(at, "x", depth) if depth else None

    monkeypatch.setattr(outputs, "passed_for", lambda frame, name: [(frame, given)])
    monkeypatch.setattr(outputs, "_source", source)
    assert outputs._passed(frame, "x", 6) is None
    assert looked == sorted(looked, reverse=True) and len(set(looked)) == len(looked)
