"""When lines were written, where they say so with their date: the only thing that orders lines of several logs."""

from __future__ import annotations

import re
from datetime import datetime

from jaxlint.triage.reading import Line

# `2026-11-29 22:03:44,072` of Python's logging, `2026-05-03T10:00:00Z` of containers, `[Mon Nov 30 00:38:05 2026]`
# of `dmesg -T`.
_ISO = re.compile(r"\b\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d")
_DMESG = re.compile(r"\[\w{3} (\w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})\]")
_HEAD = 80  # characters at the begin of a line that are looked at


class Clock:
    """The last time that each log has given, in seconds. Time zones are not told apart."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}

    def feed(self, line: Line) -> None:
        head = line.text[:_HEAD]
        if ":" not in head:
            return
        found = _ISO.search(head)
        try:
            if found:
                self._last[line.file] = datetime.fromisoformat(found[0].replace("/", "-")).timestamp()
            elif head.startswith("[") and (written := _DMESG.match(head)):
                self._last[line.file] = datetime.strptime(written[1], "%b %d %H:%M:%S %Y").timestamp()
        except ValueError:  # a date that there is not
            return

    def now(self, file: str) -> float | None:
        """What a log last said, None where it says no dates."""
        return self._last.get(file)
