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
# What the system itself starts, and what belongs on a GPU: displays, its management, and what serves models.
_SERVICES = re.compile(
    r"(?i)\b(?:Xorg|Xwayland|gnome-shell|nvidia-|dcgm|nv-hostengine|kwin|systemd|ollama|vllm|jupyter|raylet|slurm|torchserve)"
    r"|(?<!ob)server\b|\bserv(?:e|ing)\b|daemon"
)
# What takes in processes that have lost their parents: of the machine, and of a user's session. Where PID 1 is
# something else it is that of a container, and starts its processes itself.
_INIT = re.compile(r"^(?:\S*/)?(?:systemd|init)(?: (?!--user)|$|\])")
_OF_USER = re.compile(r"^(?:\S*/)?(?:systemd|init) --user\b")
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
    command: str = ""
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
        self._holders: dict[tuple[str, str], set[int]] = {}  # of the latest listing in each log

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
        command = row.get("CMD") or row.get("COMMAND") or row.get("ARGS") or row.get("COMM", "")
        process.command = command or process.command
        process.name = process.name or command
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

    def begin_on_gpu(self, line: Line) -> None:
        """A new listing of the processes on the GPUs: who is not in it has ended."""
        for pid in self._holders.pop((line.file, line.rank), ()):
            if pid in self.known:
                self.known[pid].on_gpu = 0

    def on_gpu(self, line: Line, pid: str, name: str, used: int | None) -> bool:
        """A process that is on a GPU, with the bytes it holds there."""
        if not pid.isdigit():
            return False
        process = self._process(line, int(pid))
        process.on_gpu = max(process.on_gpu, used or 0)
        process.gpu_place = Place(line.file, line.number)
        process.name = process.name or name
        self._holders.setdefault((line.file, line.rank), set()).add(process.pid)
        return True

    def _process(self, line: Line, pid: int) -> Process:
        if pid not in self.known and len(self.known) >= _MOST:
            self.known.pop(next(iter(self.known)))
        return self.known.setdefault(pid, Process(pid, Place(line.file, line.number)))

    def orphans(self) -> list[Process]:
        """Those that hold device memory and whose parent is gone: `ps` says that init has taken them in."""
        return [
            process
            for process in self.holders()
            if process.pid != 1
            and self._is_taken_in(process)
            and not _SERVICES.search(f"{process.name} {process.command}")
        ]

    def _is_taken_in(self, process: Process) -> bool:
        parent = self.known.get(process.parent or 0)
        if process.parent == 1:
            return parent is None or not parent.command or bool(_INIT.search(parent.command))
        return parent is not None and bool(_OF_USER.search(parent.command))

    def holders(self) -> list[Process]:
        """All that hold device memory, the largest first."""
        return sorted((p for p in self.known.values() if p.on_gpu), key=lambda p: -p.on_gpu)
