"""A log as lines: whatever wrote it, and whatever it passed through on its way into a file."""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

STDIN = "-"

# The longest part of a line that is looked at, in bytes. A jitted function of a thousand arguments logs
# 60 kB in a line; what comes behind is skipped, so that a file without line ends costs no more.
LONGEST = 1 << 18

_HEAD = 8192
_COLOURS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
# Who wrote the line where several processes write one log: torchrun, MPI (--tag-output), docker compose,
# Ray, and Slurm's --label.
_RANK = re.compile(
    r"^(?:\[(?:rank|default|worker|process|proc)?[ _-]?(\d{1,5})\]:? ?"
    r"|\[\d+,(\d{1,5})\]<std(?:out|err)>: ?"
    r"|(?:rank|worker|process|proc)[ _-]?(\d{1,5}) ?[|:] ?"
    r"|[\w.-]+-(\d{1,5}) +\| ?"
    r"|\((?:\w+ )?pid=(\d+)[^)]*\) ?"
    r"| *(\d{1,5}): )",
    re.IGNORECASE,
)


class LogError(Exception):
    """Why a log cannot be read, in one line."""


class Line(NamedTuple):
    """One line of a log. `number` counts from 1; `rank` is who wrote it, "" where nobody says."""

    file: str
    number: int
    text: str
    rank: str = ""
    whole: bool = True  # it ends with a line end


def lines(path: str) -> Iterator[Line]:
    """The lines of a log, `-` for standard input, with bounded memory. Raises LogError.

    Colours and the mark of the rank are taken off; bytes that are no UTF-8 become U+FFFD; a progress bar that
    is drawn over with carriage returns gives a line each time. Logs may be compressed with gzip.
    """
    name = "<stdin>" if path == STDIN else path
    with _opened(path, name) as stream:
        head = _peek(stream)
        if not head:
            raise LogError(f"{name}: is empty")
        encoding = _encoding(head)
        if not encoding:
            raise LogError(f"{name}: is not a text log")
        yield from _decoded(stream, name, encoding)


@contextmanager
def _opened(path: str, name: str) -> Iterator[BinaryIO]:
    try:
        if path == STDIN:
            yield sys.stdin.buffer
            return
        _refuse_others(Path(path), name)
        with open(path, "rb") as raw:
            if raw.peek(2)[:2] == b"\x1f\x8b":
                with gzip.open(raw) as unpacked:
                    yield unpacked  # type: ignore[misc]  # it reads and peeks like any other
            else:
                yield raw
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise LogError(f"{name}: cannot be read: {reason}") from None


def _refuse_others(path: Path, name: str) -> None:
    """A pipe that nobody writes to is waited for without an end. Raises LogError."""
    if path.is_dir():
        raise LogError(f"{name}: is a directory")
    if path.exists() and not path.is_file():
        raise LogError(f"{name}: is not a regular file; a pipe is read from standard input, as -")


def _peek(stream: BinaryIO) -> bytes:
    head: bytes = stream.peek(_HEAD)[:_HEAD]  # type: ignore[attr-defined]  # a buffered stream has it
    return head


def _encoding(head: bytes) -> str:
    """How a log is written, "" where it is none."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):  # PowerShell's `>` before version 7
        return "utf-16-le" if head.startswith(b"\xff\xfe") else "utf-16-be"
    control = sum(byte < 32 and byte not in b"\t\n\r\x1b\x08\x0c\x07" for byte in head)
    return "utf-8" if control * 50 <= len(head) else ""


def _decoded(stream: BinaryIO, name: str, encoding: str) -> Iterator[Line]:
    end = "\n".encode(encoding)
    number = 0
    while raw := _physical(stream, end):
        number += 1
        text = raw.decode(encoding, errors="replace")
        whole = text.endswith("\n")
        if number == 1:
            text = text.lstrip("\ufeff")
        parts = text.rstrip("\r\n").split("\r")
        for part in parts:
            if part or len(parts) == 1:
                yield _line(name, number, part, whole)


def _physical(stream: BinaryIO, end: bytes) -> bytes:
    """The next line with its end; of one that is too long, the beginning."""
    raw = stream.readline(LONGEST)
    if len(end) == 2:
        return _wide(stream, raw, end)
    if len(raw) == LONGEST and not raw.endswith(end):
        while (rest := stream.readline(LONGEST)) and not rest.endswith(end):
            pass
        raw += end
    return raw


def _wide(stream: BinaryIO, raw: bytes, end: bytes) -> bytes:
    """A line of UTF-16, where readline stops at the byte of a line end, or at one that is in a character."""
    while raw and len(raw) < LONGEST and not (len(raw) % 2 == 0 and raw.endswith(end)):
        more = stream.read(1) if end[1:] == b"\0" and raw.endswith(b"\n") else stream.readline(LONGEST)
        if not more:
            break
        raw += more
    return raw


def _line(name: str, number: int, text: str, whole: bool) -> Line:
    if "\x1b" in text:
        text = _COLOURS.sub("", text)
    if "\0" in text:  # a hole that a crash has left
        text = text.replace("\0", "")
    first = text[:1]
    if first in "[(wWrRpP 0123456789" or " | " in text[:40]:
        rank = _RANK.match(text)
        if rank:
            return Line(name, number, text[rank.end() :], next(filter(None, rank.groups()), ""), whole)
    return Line(name, number, text, "", whole)
