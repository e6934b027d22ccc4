"""Samples of memory over time, in what people have at hand: `nvidia-smi` (CSV and table), `free`, `ps`, the loops
around them, and what programs print of themselves."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable

from jaxlint.triage.evidence import Place
from jaxlint.triage.processes import Processes
from jaxlint.triage.reading import Line
from jaxlint.triage.series import Sample, Series
from jaxlint.triage.sizes import SIZE, parse, size

_STAMP = re.compile(
    r"(?:(?P<date>\d{4}[/-]\d\d[/-]\d\d)[ T])?(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d(?:[.,]\d+)?)"
)
_CSV_ROW = re.compile(r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}, ")
_TABLE = re.compile(r"\|\s*(?P<used>\d+)MiB\s*/\s*(?P<all>\d+)MiB\s*\|")
_TABLE_GPU = re.compile(r"^\|\s*(?P<index>\d+)\s+\S.*\|\s*[0-9A-F]{8}:[0-9A-F]{2}:")
_LOOP = re.compile(rf"^(?:{_STAMP.pattern}) +{SIZE.format('size')}(?P<what> used| RSS)?\s*$")
_BARE = re.compile(rf"^(?:{_STAMP.pattern}) +(?P<number>\d+)\s*$")
_FREE = re.compile(r"^Mem: +(?P<all>[\d.]+[BKMGTi]*) +(?P<used>[\d.]+[BKMGTi]*)")
_RSS = re.compile(
    rf"(?i)\b(?:rss|resident(?: set)?|host (?:ram|memory)|ram used)\b[^\d\n]{{0,16}}{SIZE.format('size')}"
)
_IN_USE = re.compile(r"(?<![a-z_])bytes_in_use['\"]?\s*[:=]\s*(?P<bytes>\d+)")
_LIMIT = re.compile(r"bytes_limit['\"]?\s*[:=]\s*(?P<bytes>\d+)")
_DAY = 86_400.0
_SERIES = 64


class Samples:
    """Collects the series, and the processes that samples name."""

    def __init__(self) -> None:
        self.series: dict[str, Series] = {}
        self.processes = Processes()
        self._columns: dict[tuple[str, str], list[str]] = {}
        self._gpu: dict[tuple[str, str], str] = {}
        self._when: dict[tuple[str, str], float] = {}
        self._day: dict[tuple[str, str], float] = {}
        self._bare: dict[tuple[str, str], list[tuple[Line, int | None]]] = {}

    def feed(self, line: Line, step: int | None) -> bool:
        """Whether the line is nothing but a sample."""
        text = line.text
        if not text:
            return False
        if "[MiB]" in text or "memory.used" in text or "used_gpu_memory" in text or "used_memory" in text:
            return self._header(line)
        writer = line.file, line.rank
        columns = self._columns.get(writer)
        if columns and text.count(",") == len(columns) - 1:
            return self._csv(line, columns, step)
        first = text[0]
        if first == "|":
            return self._table(line, step)
        if first.isdigit():
            if _CSV_ROW.match(text):
                return self._csv(line, ["timestamp", "memory.used"], step)
            if text[2:3] == ":" or text[4:5] in "-/":
                return self._loop(line, step)
        if first == "M" and text.startswith("Mem:"):
            return self._free(line, step)
        if self.processes.feed(line):
            self._resident(line, step)
            return True
        return self._printed(line, step)

    # ------------------------------------------------------------ the formats

    def _header(self, line: Line) -> bool:
        names = [name.strip().removesuffix(" [MiB]").removesuffix(" [%]") for name in line.text.split(",")]
        known = {"memory.used", "used_gpu_memory", "used_memory"}
        if not known & set(names):
            return False
        self._columns[line.file, line.rank] = names
        return True

    def _csv(self, line: Line, columns: list[str], step: int | None) -> bool:
        cells = dict(zip(columns, (cell.strip() for cell in next(csv.reader([line.text]))), strict=False))
        if "pid" in cells:
            held = cells.get("used_gpu_memory") or cells.get("used_memory") or ""
            return self.processes.on_gpu(line, cells["pid"], cells.get("process_name", ""), _mebibytes(held))
        used = _mebibytes(cells.get("memory.used", ""))
        if used is None:
            return False
        stamp = _STAMP.match(cells.get("timestamp", ""))
        name = f"gpu {cells.get('index') or cells.get('gpu_name') or cells.get('name') or '0'}"
        self._add(line, name, used, self._time(line, stamp), step, device=True)
        self.series[name].capacity = _mebibytes(cells.get("memory.total", "")) or self.series[name].capacity
        return True

    def _table(self, line: Line, step: int | None) -> bool:
        writer = line.file, line.rank
        gpu = _TABLE_GPU.match(line.text)
        if gpu:
            self._gpu[writer] = gpu["index"]
            return True
        found = _TABLE.search(line.text)
        if found:
            name = f"gpu {self._gpu.get(writer, '0')}"
            self._add(line, name, int(found["used"]) << 20, self._when.get(writer), step, device=True)
            self.series[name].capacity = int(found["all"]) << 20
            return True
        return self.processes.row_of_table(line)

    def _loop(self, line: Line, step: int | None) -> bool:
        found = _LOOP.match(line.text)
        if found and found["size"]:
            used = _guarded(size, found["size"], found["size_unit"])
            if used is None:
                return False
            if found["size_unit"]:
                name = "rss" if found["what"] == " RSS" else "host"
                self._add(line, name, used, self._time(line, found), step)
                return True
        bare = _BARE.match(line.text)
        if bare:
            self._maybe(line, step)
            return True
        return False

    def _maybe(self, line: Line, step: int | None) -> None:
        """A time and a number, from `free -m | awk`: believed once there are three of them."""
        waiting = self._bare.setdefault((line.file, line.rank), [])
        waiting.append((line, step))
        if len(waiting) < 3 and "host" not in self.series:
            return
        for earlier, at in waiting:
            found = _BARE.match(earlier.text)
            if found:
                self._add(earlier, "host", int(found["number"]) << 20, self._time(earlier, found), at)
        waiting.clear()

    def _free(self, line: Line, step: int | None) -> bool:
        found = _FREE.match(line.text)
        if not found:
            return False
        unit = _unit_of_free(found["all"])
        capacity, used = (_with_unit(found[key], unit) for key in ("all", "used"))
        if used is None:
            return False
        self._add(line, "host", used, self._when.get((line.file, line.rank)), step)
        self.series["host"].capacity = capacity or 0
        return True

    def _resident(self, line: Line, step: int | None) -> None:
        process = self.processes.last
        if process is not None and process.resident:
            when = self._when.get((line.file, line.rank))
            self._add(line, f"rss {process.pid}", process.resident, when, step)

    def _printed(self, line: Line, step: int | None) -> bool:
        text = line.text
        if "bytes_in_use" in text:
            found = _IN_USE.search(text)
            if found:
                self._add(line, "gpu bytes_in_use", int(found["bytes"]), None, step, device=True)
                limit = _LIMIT.search(text)
                self.series["gpu bytes_in_use"].capacity = int(limit["bytes"]) if limit else 0
        elif ("rss" in text or "RSS" in text or "RAM" in text or "host mem" in text.lower()) and len(
            text
        ) < 500:
            found = _RSS.search(text)
            used = _guarded(size, found["size"], found["size_unit"]) if found and found["size_unit"] else None
            if used:
                self._add(line, "rss", used, None, step)
        stamp = _STAMP.match(text) if text[:1].isdigit() else None
        if stamp:
            self._time(line, stamp)
        return False

    # ------------------------------------------------------------ keeping them

    def _add(
        self, line: Line, name: str, used: int, when: float | None, step: int | None, *, device: bool = False
    ) -> None:
        if line.rank:
            name = f"{name} (rank {line.rank})"
        if name not in self.series and len(self.series) >= _SERIES:
            return
        series = self.series.setdefault(name, Series(name, device))
        series.add(Sample(Place(line.file, line.number), used, when, step))

    def _time(self, line: Line, found: re.Match[str] | None) -> float | None:
        """Seconds, counted on over midnight."""
        if found is None:
            return None
        writer = line.file, line.rank
        clock = int(found["h"]) * 3600 + int(found["m"]) * 60 + float(found["s"].replace(",", "."))
        day = self._day.get(writer, 0.0)
        before = self._when.get(writer)
        if before is not None and day + clock < before - _DAY / 2:
            day += _DAY
            self._day[writer] = day
        self._when[writer] = day + clock
        return day + clock


def _mebibytes(text: str) -> int | None:
    """nvidia-smi: `1234 MiB`, or `1234` with nounits; `[N/A]` is None."""
    return int(text) << 20 if text.isdigit() else parse(text)


def _unit_of_free(total: str) -> str:
    """`free` does not say its unit, but no machine has both few bytes and many gibibytes."""
    if not total.isdigit():
        return ""
    number = int(total)
    return "" if number > 4e9 else "K" if number > 4e6 else "M" if number > 2000 else "G"


def _with_unit(text: str, unit: str) -> int | None:
    return parse(text + unit) if text.isdigit() else parse(text)


def _guarded(function: Callable[[str, str], int], number: str, unit: str) -> int | None:
    try:
        return function(number, unit)
    except (ValueError, KeyError):
        return None
