"""Lines of scripts by what they do: comments do nothing, and what is only printed sets nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_QUOTED = re.compile(r"\"(?:\\.|[^\"\\])*\"|'[^']*'")
_COMMENT = re.compile(r"(?<=\s)#.*")
_END = re.compile(r"&&|\|\||(?<![>&\d])&(?![>&])|[;|]|$")
_LEADING = re.compile(r"\s*(?:(?:-|\w+:|RUN|@|then|do|else|\(|\{|if|!)\s*)*")
_PRINTING = re.compile(r"(?:echo|printf|logger)\b")
_SHOWING = re.compile(r"\bcat\s*<<-?\s*[\"']?(\w+)|<<-?\s*[\"']?(\w+)[\"']?\s*\|?\s*cat\b")
_TO_FILE = re.compile(r">>?\s*(?!&|/dev/)\S|\btee\b")


class Command(NamedTuple):
    """A command of a line: its place there, its text, and whether `&` puts it into the background."""

    start: int
    stop: int
    text: str
    background: bool


def without_comment(line: str) -> str:
    """A line up to the `#` of a comment behind it."""
    found = _COMMENT.search(_masked(line))
    return line[: found.start()] if found is not None else line


def commands(line: str) -> Iterator[Command]:
    """The commands of a line without comments."""
    masked, start = _masked(line), 0
    while start < len(line):
        end = _END.search(masked, start)
        stop = end.start() if end is not None else len(line)
        begin = start + len((_LEADING.match(masked[start:stop]) or [""])[0])
        yield Command(begin, stop, line[begin:stop], end is not None and end[0] == "&")
        start = max(end.end() if end is not None else stop, stop + 1)


def is_printed(line: str, at: int) -> bool:
    """Whether what stands there is what `echo` and the like say, and to no file."""
    masked = _masked(line)
    return any(
        command.start <= at < command.stop
        and _PRINTING.match(command.text) is not None
        and _TO_FILE.search(masked, command.start) is None
        for command in commands(line)
    )


def shown_document(line: str) -> str:
    """The word that ends the here-document that a line begins, if that is only shown; "" where there is none."""
    found = _SHOWING.search(line)
    if found is None or _TO_FILE.search(line):
        return ""
    return found[1] or found[2]


def _masked(line: str) -> str:
    """The line with quoted text blanked out, so that what separates commands can be looked for."""
    return _QUOTED.sub(lambda match: '"' + "_" * (len(match[0]) - 2) + '"', line)
