"""What can be wrong with an input: one sentence for the person who gave it."""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 8  # names in a message


class CaptureError(Exception):
    """An input that cannot be read. The text names it and says why, and what to do where something helps."""


class Absent(CaptureError):
    """What was asked for, a module or a device, is not in this file; of several, another may hold it."""

    def __init__(self, path: object, what: str, others: Iterable[str], there: str = "there are") -> None:
        """`what` is asked for, and `others` of its kind are there; `there` leads their list."""
        self.what = what
        self.there = there
        self.others = sorted(set(others))
        shown = ", ".join(self.others[:_MOST]) + (", …" if len(self.others) > _MOST else "")
        super().__init__(f"{path}: no {what} ({there}: {shown or 'none'})")
