"""Puts the recorder in place."""

from __future__ import annotations

import atexit
import os
import sys
from types import ModuleType

from . import frames, patches, settings, usage
from .boundaries import Boundaries
from .events import Listener
from .journal import Journal
from .shims import Shims

OLDEST = (0, 4, 35)


class Recorder:
    """The recorder of this process."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        boundaries = Boundaries(journal)
        self._patches = patches.Patches(Shims(boundaries), lambda: _cleared(journal))
        settings.remember()
        patches.hide_frames(os.path.dirname(os.path.abspath(__file__)))
        Listener(journal, boundaries).register()
        atexit.register(_end, journal)

    def patch(self, module: ModuleType) -> None:
        """See to a module of `waiting.MODULES` that has been imported."""
        self._patches.patch(module)


def start(path: str) -> Recorder | None:
    """Record what jax does in this process from now on. jax has just been imported. None where it is too old."""
    import jax

    journal = Journal(path)
    if _version(jax.__version__) < OLDEST:
        journal.write("process", parent=os.getppid(), jax=jax.__version__, too_old=True, argv=sys.argv)
        return None
    journal.write(
        "process",
        parent=os.getppid(),
        python=sys.version.split()[0],
        executable=sys.executable,
        jax=jax.__version__,
        argv=_argv(),
        directory=os.getcwd(),
    )
    return Recorder(journal)


def _cleared(journal: Journal) -> None:
    stack = frames.user_stack()
    journal.write_sources(stack)
    journal.write("cleared", stack=stack)


def _end(journal: Journal) -> None:
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if isinstance(error, BaseException):
        note_raised(journal, error)
    try:
        journal.write("end", **usage.held())
    except Exception as flaw:  # a backend that has been closed
        journal.write("end", flaw=f"{type(flaw).__name__}: {flaw}")


def note_raised(journal: Journal, error: BaseException) -> None:
    """Note what ended the program."""
    stack = []
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if frames.is_user_frame(frame):
            path, _, name = frames.place_of(frame.f_code)
            stack.append([path, traceback.tb_lineno, name])
        traceback = traceback.tb_next
    journal.write_sources(stack)
    try:
        message = str(error)[:4000]
    except Exception:  # a user's own exception may fail at this too
        message = ""
    kinds = [kind.__name__ for kind in type(error).__mro__[:-1]]
    journal.write("raised", type=kinds[0], kinds=kinds, message=message, stack=stack[::-1])


def _argv() -> list[str]:
    """The command line; sys.argv is not there yet when Python starts."""
    return list(getattr(sys, "orig_argv", sys.argv))


def _version(text: str) -> tuple[int, ...]:
    numbers = []
    for part in text.split(".")[:3]:
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)
