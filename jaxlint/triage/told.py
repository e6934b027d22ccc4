"""What can be told by a single line: the table of signs, applied."""

from __future__ import annotations

import re

from jaxlint.triage.evidence import Collected
from jaxlint.triage.reading import Line
from jaxlint.triage.signs import SIGNS, Sign
from jaxlint.triage.sizes import shown

# A job that was ended for its time, or by hand, was not ended for its memory.
_OTHER_KILLS = re.compile(
    r"(?i)DUE TO (?:TIME LIMIT|PREEMPTION)|CANCELLED (?:BY|AT)|time limit (?:exceeded|reached)"
)


class Told:
    """Collects what single lines tell."""

    def __init__(self, collected: Collected) -> None:
        self._collected = collected
        self.killed_for_another_reason: Line | None = None

    def feed(self, line: Line) -> bool:
        """Whether the line tells anything."""
        told = False
        low = line.text.casefold()
        for sign in SIGNS:
            for word in sign.words:
                if word in low:
                    found = sign.pattern.search(line.text, 0, 4000)
                    if found and not (sign.event and _is_talk(line.text, found)):
                        told = True
                        self._collected.note(
                            sign.symptom, _said(sign, found), line, key=sign.text, proof=sign.proof
                        )
                    break
        if ("cancelled" in low or "time limit" in low or "preempt" in low) and _OTHER_KILLS.search(line.text):
            self.killed_for_another_reason = line
        return told


# What stands before or behind the words where a line explains, asks or forbids.
_TALK_BEFORE = re.compile(
    r"(?i)^\s*(?:#|//|\*|>|- |echo\b|print\(|grep\b)|[?]"
    r"|\b(?:if|when(?:ever)?|unless|should|would|could|might|may|can)\b"
    r"|\b(?:e\.g|for example|not|never|without|see|expect\w*)\b"
)
_TALK_BEHIND = re.compile(
    r"(?i)^[\s:,;()\"'`-]*(?:(?:means?|usually|typically|often|indicates?|would|is (?:usually|often|the|an?))\b"
    r"|[?]|=>|→)"
)


def _is_talk(text: str, found: re.Match[str]) -> bool:
    """Whether the words are talked of, and nothing is said to have happened."""
    before, behind = text[: found.end()][-300:], text[found.end() :][:100]
    return bool(_TALK_BEFORE.search(before) or _TALK_BEHIND.match(behind))


def _said(sign: Sign, found: re.Match[str]) -> str:
    groups = {key: value or "" for key, value in found.groupdict().items()}
    kilobytes = groups.get("kb")
    rss = f" at {shown(int(kilobytes) * 1024)} resident" if kilobytes else ""
    return sign.text.format(**groups, rss=rss) if "{" in sign.text else sign.text
