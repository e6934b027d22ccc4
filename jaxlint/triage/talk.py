"""Whether a line talks of something, or reports that it happened.

Advice, settings and comments hold the same words as failures do: "set X to avoid RESOURCE_EXHAUSTED errors". What
an exception says behind its name, and what XLA's C++ logs, is a report whatever its words are.
"""

from __future__ import annotations

import re

_REPORT = re.compile(
    r"^(?:\[[^\]]*\] ?|[\d:., T-]+)*(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception)\b(?:: |$)"
    r"|^(?:.{0,120}[ ]|)[\w/.-]+\.(?:cc|h|cpp|cu):\d+[\]:]"
)
# What stands before or behind the words where a line explains, asks or forbids.
_BEFORE = re.compile(
    r"(?i)^\s*(?:#|//|\*|>|- |echo\b|print\(|grep\b)|[?]"
    r"|\b(?:if|when(?:ever)?|unless|should|would|could|might|may|can)\b"
    r"|\b(?:e\.g|for example|not|never|without|see|expect\w*)\b"
)
# The same where the words are the name of an error, which programs also announce what they do about.
_BEFORE_NAME = re.compile(
    r"(?i)\b(?:avoid|prevent|handl|catch|ignor|simulat|pretend|guard|protect|survive)\w*\b|\bwork around\b"
    r"|\bin case of\b|\bretry[-_ ]?on\b|\bon_?(?:oom|error)\b|\bto (?:fix|retry)\b"
)
_BEHIND = re.compile(
    r"(?i)^[\s:,;()\"'`-]*(?:(?:means?|usually|typically|often|indicates?|would|is (?:usually|often|the|an?))\b"
    r"|[?]|=>|→)"
)
_BEHIND_NAME = re.compile(
    r"(?i)^[\s:,;()\"'`-]*(?:out of memory\W{0,3})?(?:errors\b|(?:is|are|will be|gets?) "
    r"(?:enabled|disabled|handled|caught|ignored|expected|retried|raised)\b|(?:->|=>|→|[?]))"
)


def is_talk(text: str, found: re.Match[str]) -> bool:
    """Whether words that report an event elsewhere are only talked of here."""
    before, behind = text[: found.end()][-300:], text[found.end() :][:100]
    return bool(_BEFORE.search(before) or _BEHIND.match(behind))


def is_talk_of_error(text: str, begin: int, end: int) -> bool:
    """The same of the name of an error that stands from `begin` to `end`."""
    if _REPORT.match(text[:400]):
        return False
    before, behind = text[:begin][-300:], text[end:][:100]
    return bool(
        _BEFORE.search(before)
        or _BEFORE_NAME.search(before)
        or _BEHIND.match(behind)
        or _BEHIND_NAME.match(behind)
    )
