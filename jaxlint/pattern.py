"""Regular expressions that few runs ask: compiled when they are first asked, and not at each start."""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "sub", "findall", "finditer")


class _Pattern:
    def __init__(self, expression: str, flags: int) -> None:
        self._expression = expression
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copying and pickling ask before there is anything to look at
            raise AttributeError(name)
        compiled = re.compile(self._expression, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, later: the pattern is checked and compiled at its first use."""
    return cast("re.Pattern[str]", _Pattern(expression, flags))
