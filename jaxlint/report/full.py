"""For people: each finding with the source it is about and the places that explain it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TextIO

from jaxlint.finding import Applicability, Finding, Fix, Place, Severity
from jaxlint.report import suggestion
from jaxlint.report.concise import on_one_line
from jaxlint.report.run import Run

_TAB = "    "
_WIDEST = 160  # characters of a line of source


class _Piece(NamedTuple):
    """Text in one style (of rich; "" for none)."""

    text: str
    style: str = ""


_Line = list[_Piece]
_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
_OUTCOMES = {"confirmed": "bold red", "refuted": "green", "unknown": "yellow"}
_CHANGED = {"-": "red", "+": "green"}
_MARGIN = "blue"
_RELATED = "bold blue"


def write(run: Run, stream: TextIO) -> None:
    """Write the report, in colours where the stream is a terminal that wants them."""
    lines = _report(run)
    if _coloured(stream):
        _write_coloured(lines, stream)
    else:
        stream.writelines("".join(piece.text for piece in line) + "\n" for line in lines)


def _coloured(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _write_coloured(lines: Iterator[_Line], stream: TextIO) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)
    for line in lines:
        console.print(Text.assemble(*line))


def _report(run: Run) -> Iterator[_Line]:
    for finding in run.findings:
        yield from _finding(finding, run)
        yield []
    yield [_Piece(_summary(run))]
    if fixable := _fixable(run):
        yield [_Piece(fixable)]


def _finding(finding: Finding, run: Run) -> Iterator[_Line]:
    style = _STYLES[finding.severity]
    span = finding.span
    yield [
        _Piece(f"{on_one_line(finding.path)}:{span.line}:{span.column}", "bold"),
        _Piece(": "),
        _Piece(finding.code, style),
        _Piece(f" {' '.join(finding.message.split())}"),
    ]
    places = [finding.place, *(related.place for related in finding.related)]
    margin = len(str(max(place.span.line for place in places)))
    yield from _excerpt(finding.place, run, margin, "^", style, "")
    path = finding.path
    for related in finding.related:
        if related.place.path != path:
            path = related.place.path
            where = f"{on_one_line(path)}:{related.place.span.line}:{related.place.span.column}"
            yield [_Piece(" " * margin + "::: ", _MARGIN), _Piece(where)]
        yield from _excerpt(related.place, run, margin, "-", _RELATED, related.message)
    yield [_Piece(" " * margin + " = ", _MARGIN), _Piece(_remarks(finding))]
    if finding.fix is not None and finding.fix.applicability is Applicability.DISPLAY:
        yield from _suggestion(finding.fix, run.lines(finding.path))
    for verdict in finding.confirm:
        from jaxlint.confirm.wording import lines

        first, *rest = lines(verdict)
        outcome, _, reason = first.partition(" ")
        margin_mark = _Piece(" " * margin + " = ", _MARGIN)
        yield [margin_mark, _Piece(outcome, _OUTCOMES[outcome]), _Piece(f" {reason}")]
        for line in rest:
            yield [margin_mark, _Piece(line)]


def _suggestion(fix: Fix, source: Sequence[str]) -> Iterator[_Line]:
    """What is never applied is to be read."""
    changed = list(suggestion.lines(fix, source))
    margin = max((len(str(line.number)) for line in changed), default=0)
    for line in changed:
        yield [
            _Piece(f"{line.number if line.mark == '-' else '':>{margin}} ", _MARGIN),
            _Piece(f"{line.mark} {_visible(line.text[:_WIDEST])}", _CHANGED[line.mark]),
        ]


def _remarks(finding: Finding) -> str:
    remarks = f"{finding.severity.value}: {finding.slug} ({finding.confidence.value} confidence)"
    if finding.fix is not None:
        remarks += f"; {finding.fix.applicability.value} fix: {finding.fix.title}"
    return remarks


def _excerpt(place: Place, run: Run, margin: int, mark: str, style: str, message: str) -> Iterator[_Line]:
    """The first line of a place with a mark under it. A line that cannot be read leaves only the message."""
    span = place.span
    source = run.line(place.path, span.line)
    label = f" {' '.join(message.split())}" if message else ""
    if source is None:
        if label:
            yield [_Piece(" " * margin + " | ", _MARGIN), _Piece(f"line {span.line}:{label}", style)]
        return
    last = span.end_column - 1 if span.end_line == span.line else len(source)
    source, begin, last = _window(source, span.column - 1, last)
    indent, marked = _visible(source[:begin]), _visible(source[begin:last])
    yield [_Piece(f"{span.line:>{margin}} | ", _MARGIN), _Piece(_visible(source))]
    yield [
        _Piece(" " * margin + " | ", _MARGIN),
        _Piece(" " * _cells(indent)),
        _Piece(mark * max(_cells(marked), 1) + label, style),
    ]


def _window(source: str, begin: int, end: int) -> tuple[str, int, int]:
    """The part of a long line around what is marked in it, and where the mark stands there."""
    start = max(0, begin - _WIDEST // 2) if len(source) > _WIDEST else 0
    source = source[start : start + _WIDEST]
    return source, begin - start, min(end - start, len(source))


def _visible(text: str) -> str:
    """Text without what a terminal would obey instead of showing."""
    text = text.replace("\t", _TAB)
    return text if text.isprintable() else "".join(c if c.isprintable() else "\N{MIDDLE DOT}" for c in text)


def _cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def _summary(run: Run) -> str:
    files = run.view or _count(len(run.files), "file")
    if not run.findings:
        return f"No findings in {files}."
    severities = Counter(finding.severity for finding in run.findings)
    parts = [
        _count(severities[severity], severity.value)
        for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO)
        if severities[severity]
    ]
    return f"{_count(len(run.findings), 'finding')} ({', '.join(parts)}) in {files}."


def _fixable(run: Run) -> str:
    """How many findings a fix would settle, and how to make it."""
    kinds = Counter(finding.fix.applicability for finding in run.findings if finding.fix is not None)
    safe, unsafe = kinds[Applicability.SAFE], kinds[Applicability.UNSAFE]
    if not unsafe:
        return f"Fixable with --fix: {safe}." if safe else ""
    also = f"Fixable with --fix: {safe}; " if safe else "Fixable "
    return f"{also}with --fix --unsafe-fixes: {safe + unsafe}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 or noun == "info" else f"{number} {noun}s"
