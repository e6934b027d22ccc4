"""What a setting may be: each function takes a value from TOML and returns ours, or says what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar

from jaxlint.finding import Confidence, Severity
from jaxlint.report import FORMATS

Convert = Callable[[object], Any]
E = TypeVar("E", bound=Enum)

KINDS = ("library", "application")


class WrongValue(Exception):
    """A value of the wrong type or out of range. The text continues a sentence that begins with the key."""


def text(value: object) -> str:
    """A string that is not empty."""
    if not isinstance(value, str) or not value:
        raise WrongValue(f"must be a string, not {_kind(value)}")
    return value


def boolean(value: object) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise WrongValue(f"must be true or false, not {_kind(value)}")
    return value


def jobs(value: object) -> int:
    """A number of processes, 0 for as many as there are processors."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise WrongValue(f"must be a number from 0 (one per processor), not {_kind(value)}")
    return value


def strings(value: object) -> tuple[str, ...]:
    """A list of strings."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise WrongValue(f"must be a list of strings, not {_kind(value)}")
    return tuple(value)


def table(value: object) -> dict[str, Any]:
    """Any table."""
    if not isinstance(value, dict):
        raise WrongValue(f"must be a table, not {_kind(value)}")
    return value


def strings_by_name(value: object) -> dict[str, tuple[str, ...]]:
    """A table of lists of strings."""
    return {name: _within(name, strings, item) for name, item in table(value).items()}


def severity_by_name(value: object) -> dict[str, Severity]:
    """A table of severities."""
    return {name: _within(name, severity, item) for name, item in table(value).items()}


def severity(value: object) -> Severity:
    """A severity by its word."""
    return _member(Severity, value)


def confidence(value: object) -> Confidence:
    """A confidence by its word."""
    return _member(Confidence, value)


def kind(value: object) -> str:
    """Library or application."""
    return _one_of(KINDS, value)


def output_format(value: object) -> str:
    """The name of an output format."""
    return _one_of(FORMATS, value)


def version(value: object) -> tuple[int, ...]:
    """A release such as "0.4.35"."""
    if not isinstance(value, str) or not re.fullmatch(r"\d+(\.\d+)*", value):
        raise WrongValue(f'must be a version such as "0.4.35", not {_kind(value)}')
    return tuple(int(part) for part in value.split("."))


def _member(enum: type[E], value: object) -> E:
    return enum(_one_of([member.value for member in enum], value))


def _one_of(words: Any, value: object) -> str:
    if not isinstance(value, str) or value not in words:
        raise WrongValue(f"must be one of {', '.join(words)}, not {_kind(value)}")
    return value


def _within(name: str, convert: Callable[[object], Any], value: object) -> Any:
    try:
        return convert(value)
    except WrongValue as error:
        raise WrongValue(f"of `{name}` {error}") from None


def _kind(value: object) -> str:
    """How a value is called in a message."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, float)):
        return repr(value)
    return "a list" if isinstance(value, list) else "a table" if isinstance(value, dict) else "a date"
