"""An XLA dump (`--xla_dump_to`): the modules in it that have a memory plan."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from jaxlint.capture import assignment_text, hlo_text
from jaxlint.capture.error import CaptureError
from jaxlint.capture.modules import Module

_PLAN = "-buffer-assignment.txt"
_LARGEST = 256 << 20  # bytes of a text that is read


def plans(path: Path) -> list[Path]:
    """The files of a directory that hold a plan as text."""
    return sorted(path.glob(f"*{_PLAN}"))


def modules(path: Path) -> Iterator[Module]:
    """The modules of a dump of texts. Raises CaptureError."""
    for plan in plans(path):
        stem = plan.name.removesuffix(_PLAN)
        text = _text(plan)
        assignment = assignment_text.read(
            text, _text(path / f"{stem}-live-range.txt"), _text(path / f"{stem}-buffer-assignment-values.txt")
        )
        if not assignment.allocations:
            raise CaptureError(f"{plan}: no buffer assignment, or cut off before its first block")
        program = hlo_text.read(_text(path / f"{stem}.txt"))
        yield Module(stem, len(text), lambda p=program: p, lambda a=assignment: a)  # type: ignore[misc]  # defaults bind the values of this round


def _text(path: Path) -> str:
    """A text of the dump, "" where it was not written."""
    try:
        if not path.exists():
            return ""
        if path.stat().st_size > _LARGEST:
            raise CaptureError(f"{path}: larger than {_LARGEST >> 20} MiB")
        return path.read_text("utf-8", "replace")
    except OSError as error:
        raise CaptureError(f"{path}: cannot read: {error.strerror}") from None
