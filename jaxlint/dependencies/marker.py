"""Environment markers: can a requirement hold on the machines that have GPUs, Linux on x86-64?

Answers are true, false or unknown (None): the version of Python, for one, is not known.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_TOKEN = r"""\s*(\(|\)|===|==|~=|!=|<=|>=|<|>|'[^']*'|"[^"]*"|[\w.]+)"""
_MACHINE = {
    "sys_platform": "linux",
    "platform_system": "Linux",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "implementation_name": "cpython",
}
_SETS = {"extras", "dependency_groups"}


def holds(marker: str, extras: Collection[str] = ()) -> bool | None:
    """Whether a marker is true with these extras; None when that depends on what is not known."""
    if not marker.strip():
        return True
    try:
        return _either(_Tokens(marker), extras)
    except (StopIteration, ValueError):
        return None


class _Tokens:
    def __init__(self, text: str) -> None:
        self._words = [found[1] for found in re.finditer(_TOKEN, text)]

    def peek(self) -> str:
        return self._words[0] if self._words else ""

    def take(self) -> str:
        if not self._words:
            raise StopIteration
        return self._words.pop(0)


def _either(tokens: _Tokens, extras: Collection[str]) -> bool | None:
    result = _both(tokens, extras)
    while tokens.peek() == "or":
        tokens.take()
        other = _both(tokens, extras)
        result = True if True in (result, other) else None if None in (result, other) else False
    return result


def _both(tokens: _Tokens, extras: Collection[str]) -> bool | None:
    result = _term(tokens, extras)
    while tokens.peek() == "and":
        tokens.take()
        other = _term(tokens, extras)
        result = False if False in (result, other) else None if None in (result, other) else True
    return result


def _term(tokens: _Tokens, extras: Collection[str]) -> bool | None:
    first = tokens.take()
    if first == "(":
        result = _either(tokens, extras)
        if tokens.take() != ")":
            raise ValueError("a parenthesis is not closed")
        return result
    operator = tokens.take()
    if operator == "not":
        operator += " " + tokens.take()
    return _compare(first, operator, tokens.take(), extras)


def _compare(left: str, operator: str, right: str, extras: Collection[str]) -> bool | None:
    literal, variable = (left, right) if left[:1] in "'\"" else (right, left)
    value = literal.strip("'\"")
    if variable == "extra":
        return (normal(value) in extras) is (operator == "==")
    if variable in _SETS:
        return (normal(value) in extras) is (operator == "in") if variable == "extras" else None
    have = _MACHINE.get(variable)
    if have is None:
        return None
    if operator in ("==", "==="):
        return have == value
    if operator == "!=":
        return have != value
    if operator in ("in", "not in"):
        return (have in value if literal == right else value in have) is (operator == "in")
    return None


def normal(name: str) -> str:
    """A package's or extra's name as it is compared: `cuda12_pip` and `cuda12-pip` are one."""
    return re.sub(r"[-_.]+", "-", name).lower()
