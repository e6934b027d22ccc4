"""Fix proof: the fixed program beside the one as written, and whether both compute the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from jaxlint.confirm.arms import absorbed
from jaxlint.confirm.observing import Observer, Program
from jaxlint.confirm.overlay import Overlay
from jaxlint.confirm.process import Raised, Unanswered
from jaxlint.finding import Applicability, Fix
from jaxlint.fix.apply import apply_fixes
from jaxlint.project.source import Source


def can_be_made(fix: Fix | None) -> bool:
    """Whether a fix is more than advice."""
    return fix is not None and fix.applicability is not Applicability.DISPLAY and bool(fix.edits)


@contextmanager
def fixed_program(
    observer: Observer, file: str, source: Source, fix: Fix, how: Mapping[str, Any]
) -> Iterator[Program | str]:
    """The program with its fix made, run from a temporary copy as `how` says; or why it cannot be run."""
    text = apply_fixes(source.text, [fix])
    try:
        overlay = Overlay(file, text, source.encoding)
    except OSError as error:
        yield f"a fixed copy cannot be written: {error.strerror}"
        return
    with overlay:
        try:
            where = {"root": overlay.root} if how else {}
            program = observer.program(overlay.file, text.encode(), (), **{**how, **where})
        except (Unanswered, Raised) as error:
            yield str(error)
            return
        yield program


def counterpart(written: Program, boundary: int, fixed: Program) -> int | None:
    """The boundary of the fixed program that stands for one of the program as written: by name and order."""
    about = next(b for b in written.seen.boundaries if b["id"] == boundary)
    same = [b for b in written.seen.boundaries if b["name"] == about["name"] and b["traces"]]
    other = [b for b in fixed.seen.boundaries if b["name"] == about["name"] and b["traces"]]
    index = next(i for i, b in enumerate(same) if b["id"] == boundary)
    return int(other[index]["id"]) if index < len(other) else None


def prints_the_same(written: Program, fixed: Program) -> bool | None:
    """Whether both printed the same; None where there was nothing to compare."""
    if not written.seen.printed.strip() or written.seen.stopped or fixed.seen.stopped:
        return None
    return absorbed.same_printed(written.seen.printed, fixed.seen.printed)
