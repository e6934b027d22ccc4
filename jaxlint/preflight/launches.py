"""Where scripts start several processes of Python beside each other: in the background, or by a launcher."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from jaxlint.preflight import shell
from jaxlint.preflight.variables import text_of, working_lines
from jaxlint.project.files import shown

_SCRIPT = re.compile(r"(?i).*\.(?:sh|bash|zsh|ksh|slurm|sbatch|job|sub|pbs|qsub|lsf|bsub)|[^.]*")
_PYTHON = re.compile(r"(?:^|[\s/])python[\d.]*\s+(?!-m\s+(?:pip|venv)\b)(?:-\w+\s+)*[\w./$-]")
_LAUNCHER = re.compile(r"(?:\w+=\S*\s+)*(srun|mpirun|mpiexec)\s")
_COUNT = re.compile(r"\s(?:-n|-np|--np|--ntasks|--ntasks-per-node)(?:[= ]\s*)?(\d+)\b")
_LOOP = re.compile(r"\s*(?:for|while|until)\b")
_DONE = re.compile(r"(?:^|[\s;&])done\b")


class Launch(NamedTuple):
    """Several processes: what starts them, and where."""

    text: str
    place: str


def in_files(paths: Iterable[str]) -> Iterator[Launch]:
    """The launches of the scripts among these files."""
    for path in paths:
        if _SCRIPT.fullmatch(path.replace("\\", "/").rpartition("/")[2]):
            yield from _in_script(path)


def _in_script(path: str) -> Iterator[Launch]:
    depth = 0
    for number, line in working_lines(text_of(path)):
        depth += _LOOP.match(line) is not None
        found = list(shell.commands(line))
        for place, command in enumerate(found):
            waits = [after.text.strip() for after in found[place + 1 : place + 2]] == ["wait"]
            launcher = _LAUNCHER.match(command.text)
            if not _PYTHON.search(command.text):
                continue
            if launcher is not None:
                count = max((int(n) for n in _COUNT.findall(command.text)), default=1)
                if count > 1:
                    yield Launch(f"`{launcher[1]}` starts {count} processes", f"{shown(path)}:{number}")
            elif command.background and depth and not waits:
                text = "a loop starts a process in the background each time"
                yield Launch(text, f"{shown(path)}:{number}")
        depth = max(depth - len(_DONE.findall(line)), 0)
