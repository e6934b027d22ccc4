"""Which Python runs the user's code, and whether its jax will do."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from jaxlint.confirm import ConfirmError
from jaxlint.project.root import Project

OLDEST = (0, 4, 35)  # memory_analysis() and the scan's figures are right from here on
_ENVIRONMENTS = (".venv", "venv")


class NoInterpreter(ConfirmError):
    """There is no Python to run user code with. The text is one line that says what to do."""


def find(asked: str, project: Project) -> str:
    """The interpreter: the one asked for, else VIRTUAL_ENV, else `.venv` or `venv` at the root, else ours.

    Raises NoInterpreter where one that was asked for is not there.
    """
    if asked:
        return _asked(asked)
    virtual = os.environ.get("VIRTUAL_ENV")
    places = [virtual] if virtual else []
    places += [os.path.join(project.root, name) for name in _ENVIRONMENTS] if project.root else []
    for place in places:
        for python in (os.path.join(place, "bin", "python"), os.path.join(place, "Scripts", "python.exe")):
            if os.path.isfile(python):
                return python
    return sys.executable


def _asked(asked: str) -> str:
    from shutil import which

    if os.path.isdir(asked):  # an environment
        asked = os.path.join(asked, "bin", "python")
    found = which(asked)
    if found is None:
        raise NoInterpreter(f"--python {asked}: there is no such program")
    return os.path.abspath(found)


def problem(python: str, versions: Mapping[str, Any]) -> str:
    """What is wrong with the jax of an interpreter, "" if nothing."""
    how = "--python names another interpreter"
    if versions["jax"] is None:
        return f"{python} has no jax ({how}; or install it there: {python} -m pip install jax)"
    if versions["error"]:
        return f"{python} cannot import jax {versions['jax']}: {versions['error']}"
    if release(versions["jax"]) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        return f"{python} has jax {versions['jax']}, --confirm needs {oldest} or newer ({how})"
    return ""


def release(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with: (0, 10, 2) of "0.10.2.dev3"."""
    numbers: list[int] = []
    for part in version.split(".")[:3]:
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)
