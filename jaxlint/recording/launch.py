"""Starts a program with the recorder in each of its Python processes."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from shutil import which
from typing import NoReturn

from jaxlint import __version__

FORMAT = 1  # of the record, in its first line
VARIABLE = "JAXLINT_RECORD"
HOOK = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "confirm", "child", "recording", "hook"
)


class CannotLaunch(Exception):
    """The program cannot be started, or the record not be written. The text is one line."""


def launch(command: Sequence[str], path: str) -> NoReturn:
    """Become the program, which writes its record to the file `path`. Raises CannotLaunch.

    This process is replaced: whoever waits for it gets the program's own exit status, a signal reaches the program
    and no one in between, and the terminal is the program's. (Windows has no such thing: there it is a child.)
    """
    program = which(command[0])
    if program is None:
        raise CannotLaunch(f"{command[0]}: there is no such program (a script is run by `python SCRIPT`)")
    begin(path, command)
    variables = environment(path, os.environ)
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":
        import subprocess

        sys.exit(subprocess.call([program, *command[1:]], env=variables))
    try:
        os.execve(program, list(command), variables)
    except OSError as error:
        raise CannotLaunch(f"{command[0]}: cannot be run: {error.strerror}") from None


def begin(path: str, command: Sequence[str]) -> None:
    """Begin a record: a file with one line that says of what. Raises CannotLaunch."""
    line = {
        "kind": "run",
        "format": FORMAT,
        "jaxlint": __version__,
        "command": list(command),
        "directory": os.getcwd(),
        "t": time.time(),
    }
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    except OSError as error:
        raise CannotLaunch(f"{path}: cannot write: {error.strerror}") from None


def environment(path: str, variables: Mapping[str, str]) -> dict[str, str]:
    """Environment variables that make every Python process started with them write to the record."""
    others = variables.get("PYTHONPATH")
    return {
        **variables,
        VARIABLE: os.path.abspath(path),
        "PYTHONPATH": os.pathsep.join([HOOK, others]) if others else HOOK,
    }
