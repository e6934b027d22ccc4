"""Processes that samples name: who holds device memory, and who has lost its launcher."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jaxlint.triage.evidence import Place
from jaxlint.triage.reading import Line

_TABLE_ROW = re.compile(
    r"^\|\s*\d+\s+(?:(?:N/A|\d+)\s+(?:N/A|\d+)\s+)?(?P<pid>\d+)\s+[CGM+]+\s+(?P<name>\S.*?)\s+(?P<mib>\d+)MiB\s*\|"
)
_PS_COLUMNS = {"PID", "PPID", "RSS", "CMD", "COMMAND", "ARGS", "USER", "UID", "STAT", "S", "COMM", "VSZ"}
# What the system itself starts, and what belongs on a GPU.
_SERVICES = re.compile(r"(?i)\b(?:Xorg|Xwayland|gnome-shell|nvidia-|dcgm|nv-hostengine|kwin|systemd)")
_MOST = 10_000


def _is_header(words: list[str]) -> bool:
    """The names of columns that `ps` was asked for: with PID there may be any others, RSS may stand alone."""
    if "PID" in words:
        return len(_PS_COLUMNS & set(words)) >= 2 and all(word.upper() == word for word in words)
    return "RSS" in words and _PS_COLUMNS.issuperset(words)


@dataclass(slots=True)
class Process:
    """What is known of one: PID 0 where a listing does not say whose it is. Memory in bytes; `parent` is a PID,
    None where no sample says.
    """

    pid: int
    place: Place
    name: str = ""
    parent: int | None = None
    state: str = ""
    resident: int = 0
    on_gpu: int = 0
    gpu_place: Place | None = None
    listed: bool = False  # in a listing of `ps`


class Processes:
    """Collects them by PID. `last` is the one that the latest line of `ps` was about."""

    def __init__(self) -> None:
        self.known: dict[int, Process] = {}
        self.last: Process | None = None
        self._columns: dict[tuple[str, str], list[str]] = {}

    def feed(self, line: Line) -> bool:
        """Whether the line is one of `ps`."""
        text = line.text
        writer = line.file, line.rank
        if ("PID" in text or "RSS" in text) and len(text) < 300:
            words = text.split()
            if _is_header(words):
                self._columns[writer] = words
                self.last = None
                return True
        columns = self._columns.get(writer)
        if columns is None:
            return False
        cells = text.split(None, len(columns) - 1)
        row = dict(zip(columns, cells, strict=False))
        if len(cells) < len(columns) or not all(row.get(key, "0").isdigit() for key in ("PID", "RSS")):
            del self._columns[writer]
            return False
        self._listed(line, row)
        return True

    def _listed(self, line: Line, row: dict[str, str]) -> None:
        process = self._process(line, int(row.get("PID", 0)))
        process.listed = True
        process.name = (
            process.name or row.get("CMD") or row.get("COMMAND") or row.get("ARGS") or row.get("COMM", "")
        )
        if row.get("PPID", "").isdigit():
            process.parent = int(row["PPID"])
        process.state = row.get("STAT") or row.get("S") or process.state
        if row.get("RSS", "").isdigit():
            process.resident = int(row["RSS"]) * 1024
        self.last = process

    def row_of_table(self, line: Line) -> bool:
        """Whether the line is a process of nvidia-smi's table."""
        found = _TABLE_ROW.match(line.text)
        if not found:
            return False
        return self.on_gpu(line, found["pid"], found["name"], int(found["mib"]) << 20)

    def on_gpu(self, line: Line, pid: str, name: str, used: int | None) -> bool:
        """A process that is on a GPU, with the bytes it holds there."""
        if not pid.isdigit():
            return False
        process = self._process(line, int(pid))
        process.on_gpu = max(process.on_gpu, used or 0)
        process.gpu_place = Place(line.file, line.number)
        process.name = process.name or name
        return True

    def _process(self, line: Line, pid: int) -> Process:
        if pid not in self.known and len(self.known) >= _MOST:
            self.known.pop(next(iter(self.known)))
        return self.known.setdefault(pid, Process(pid, Place(line.file, line.number)))

    def orphans(self) -> list[Process]:
        """Those that hold device memory and whose parent is gone: `ps` says that it is PID 1."""
        return [p for p in self.holders() if p.parent == 1 and p.pid != 1 and not _SERVICES.search(p.name)]

    def holders(self) -> list[Process]:
        """All that hold device memory, the largest first."""
        return sorted((p for p in self.known.values() if p.on_gpu), key=lambda p: -p.on_gpu)
