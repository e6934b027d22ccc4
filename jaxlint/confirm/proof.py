"""Fix proof: the fixed program beside the one as written, and whether both compute the same."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from jaxlint.confirm.arms import absorbed
from jaxlint.confirm.claim import Site
from jaxlint.confirm.observing import Observer, Program
from jaxlint.confirm.overlay import Overlay, import_root
from jaxlint.confirm.process import Raised, Unanswered
from jaxlint.confirm.targets import Target
from jaxlint.confirm.wording import count
from jaxlint.finding import Applicability, Fix
from jaxlint.project.source import Source

Kept = tuple[str, int]
Figures = Mapping[str, Any]

# Bytes of arguments, outputs and scratch up to which a boundary is run to compare results.
_RUNNABLE = 1 << 30


def can_be_made(fix: Fix | None) -> bool:
    """Whether a fix is more than advice."""
    return fix is not None and fix.applicability is not Applicability.DISPLAY and bool(fix.edits)


class Fixed(NamedTuple):
    """A file (absolute) with its fix made."""

    file: str
    text: str
    encoding: str


@contextmanager
def fixed_program(
    observer: Observer,
    program: str,
    source: Source,
    fixed: Fixed,
    how: Mapping[str, Any],
    keep: Sequence[Kept] = (),
    sites: Sequence[Site] = (),
) -> Iterator[Program | str]:
    """The program with a fix made in one of its files, run from a temporary copy; or why it cannot be run.

    `how` is how the program is run, `keep` names traces that are to be compared, `sites` are statements of the
    fixed file to watch.
    """
    try:
        overlay = Overlay(*fixed)
    except OSError as error:
        yield f"a fixed copy cannot be written: {error.strerror}"
        return
    with overlay:
        try:
            where = {"root": overlay.root} if how else {}
            path = os.path.join(overlay.root, os.path.relpath(program, import_root(fixed.file)))
            there = [site._replace(file=overlay.file) for site in sites]
            found = observer.program(path, source.text.encode(), there, keep=keep, **{**how, **where})
        except (Unanswered, Raised) as error:
            yield str(error)
            return
        yield found


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


def is_runnable(figures: Figures | str) -> bool:
    if isinstance(figures, str):
        return False
    return sum(int(figures[f"{part}_bytes"]) for part in ("argument", "output", "temp")) <= _RUNNABLE


def capacity(written: Figures, target: Target) -> str:
    """Whether the executable fits on a chip that is not there."""
    total = sum(int(written[f"{part}_bytes"]) for part in ("argument", "output", "temp")) - int(
        written["alias_bytes"]
    )
    if target.capacity is None or total <= target.capacity or target.chip is None:
        return ""
    gib = 1 << 30
    return f"; it needs {total / gib:.1f} GiB, {target.chip.name} has {target.capacity / gib:.1f}"


def same_results(compared: Figures | str | None) -> bool | None:
    """Whether both arms computed the same, None where that was not to be seen."""
    if compared is None or isinstance(compared, str) or not compared["inputs"]:
        return None
    return bool(compared["equal"])


def comparison(compared: Figures | str | None) -> str:
    """How the results of both arms compare, in words."""
    if compared is None:
        return "; results not compared: too large to run here"
    if not isinstance(compared, str) and not compared["inputs"]:
        return "; results not compared: random inputs give no numbers"
    if isinstance(compared, str):
        return f"; results not compared: {compared[:120]}"
    figures = f"max rel {compared['worst']:.0e}, {count(int(compared['inputs']), 'input')}"
    if compared["equal"]:
        return f"; results equal ({figures})"
    return f"; fix withdrawn: results differ ({figures})"
