"""What `jaxlint check --confirm` made of programs that a test has written (`confirm` in conftest)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Check = Callable[..., list[dict[str, Any]]]


def verdicts(findings: list[dict[str, Any]], code: str) -> list[dict[str, Any]]:
    """The verdicts on the findings of a rule."""
    return [verdict for finding in findings if finding["code"] == code for verdict in finding["confirm"]]
