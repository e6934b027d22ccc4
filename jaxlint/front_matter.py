"""The identity of a rule: what stands between `---` at the top of its page.

Every run reads it for every rule, so this is apart from `jaxlint.page`, needs no YAML and stops where the
front matter ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from jaxlint.finding import Severity
from jaxlint.rule import Meta, RuleError

if TYPE_CHECKING:
    from pathlib import Path

CODE = re.compile(r"[A-Z]{2,}\d{3}")
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
STATUSES = ("stable", "preview")
FIXES = ("safe", "unsafe", "display", "none")

_FIELDS = ("code", "slug", "since", "status", "severity", "fix", "summary")


def read(path: Path | str) -> Meta:
    """A page's front matter. Raises RuleError where it is missing, incomplete or says something unknown."""
    try:
        with open(path, encoding="utf-8") as lines:
            return _meta(str(path), _fields(str(path), lines))
    except FileNotFoundError:
        raise RuleError(str(path), 1, "the rule has no page of this name") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RuleError(str(path), 1, f"the page cannot be read: {error}") from None


def _fields(path: str, lines: Iterable[str]) -> dict[str, tuple[str, int]]:
    fields: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(lines, start=1):
        text = line.rstrip()
        if number == 1:
            if text != "---":
                raise RuleError(path, 1, "the page does not begin with front matter (---)")
        elif text == "---":
            return fields
        elif text:
            key, colon, value = text.partition(":")
            if not colon or key not in _FIELDS:
                known = ", ".join(_FIELDS)
                raise RuleError(path, number, f"not a front matter field: {text!r} (known: {known})")
            fields[key] = (value.strip(), number)
    raise RuleError(path, 1, "the front matter has no end (---)")


def _meta(path: str, fields: dict[str, tuple[str, int]]) -> Meta:
    missing = [key for key in _FIELDS if not fields.get(key, ("", 0))[0]]
    if missing:
        raise RuleError(path, 1, f"the front matter lacks {', '.join(missing)}")

    def field(key: str, allowed: Iterable[str] | re.Pattern[str]) -> str:
        value, line = fields[key]
        if isinstance(allowed, re.Pattern):
            if not allowed.fullmatch(value):
                raise RuleError(path, line, f"{key} is {value!r}, which is not of the form {allowed.pattern}")
        elif value not in allowed:
            raise RuleError(path, line, f"{key} is {value!r}, not one of {', '.join(allowed)}")
        return value

    return Meta(
        code=field("code", CODE),
        slug=field("slug", SLUG),
        since=fields["since"][0],
        status=field("status", STATUSES),
        severity=Severity(field("severity", [severity.value for severity in Severity])),
        fix=field("fix", FIXES),
        summary=fields["summary"][0],
        page=path,
    )
