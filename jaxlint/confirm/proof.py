"""Fix proof: the fixed program beside the one as written, and whether both compute the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from jaxlint.confirm.arms import absorbed
from jaxlint.confirm.observing import Observer, Program
from jaxlint.confirm.overlay import Overlay
from jaxlint.confirm.process import Raised, Unanswered
from jaxlint.finding import Applicability, Fix
from jaxlint.fix.apply import apply_fixes
from jaxlint.project.source import Source

Kept = tuple[str, int]


def can_be_made(fix: Fix | None) -> bool:
    """Whether a fix is more than advice."""
    return fix is not None and fix.applicability is not Applicability.DISPLAY and bool(fix.edits)


@contextmanager
def fixed_program(
    observer: Observer, file: str, source: Source, fix: Fix, how: Mapping[str, Any], keep: Sequence[Kept] = ()
) -> Iterator[Program | str]:
    """The program with its fix made, run from a temporary copy as `how` says; or why it cannot be run.

    `keep` names traces that are to be compared.
    """
    text = apply_fixes(source.text, [fix])
    try:
        overlay = Overlay(file, text, source.encoding)
    except OSError as error:
        yield f"a fixed copy cannot be written: {error.strerror}"
        return
    with overlay:
        try:
            where = {"root": overlay.root} if how else {}
            program = observer.program(overlay.file, text.encode(), (), keep=keep, **{**how, **where})
        except (Unanswered, Raised) as error:
            yield str(error)
            return
        yield program


def name_of(trace: int, written: Program) -> Kept:
    """What a trace is called in another run: its boundary's name and its number among that boundary's traces."""
    for about in written.seen.boundaries:
        for kept in about["kept"]:
            if kept["id"] == trace:
                return str(about["name"]), int(kept["ordinal"])
    raise LookupError(trace)


def counterpart(name: Kept, fixed: Program) -> int | None:
    """The trace of the fixed program that stands for one of the program as written; None where there is none."""
    called, ordinal = name
    for about in fixed.seen.boundaries:
        for kept in about["kept"]:
            if about["name"] == called and kept["ordinal"] == ordinal:
                return int(kept["id"])
    return None


def prints_the_same(written: Program, fixed: Program) -> bool | None:
    """Whether both printed the same; None where there was nothing to compare."""
    if not written.seen.printed.strip() or written.seen.stopped or fixed.seen.stopped:
        return None
    return absorbed.same_printed(written.seen.printed, fixed.seen.printed)
