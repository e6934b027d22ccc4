"""Samples of memory over time, in what people have at hand: `nvidia-smi` (CSV and table), `free`, `ps`, the loops
around them, and what programs print of themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from jaxlint.triage import smi_csv, unmarked
from jaxlint.triage.evidence import Place
from jaxlint.triage.processes import Processes
from jaxlint.triage.reading import Line
from jaxlint.triage.series import Sample, Series
from jaxlint.triage.sizes import SIZE, parse, size
from jaxlint.triage.unmarked import Unmarked

_STAMP = re.compile(
    r"(?:(?P<date>\d{4}[/-]\d\d[/-]\d\d)[ T])?(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d(?:[.,]\d+)?)"
)
_TABLE = re.compile(r"\|\s*(?P<used>\d+)MiB\s*/\s*(?P<all>\d+)MiB\s*\|")
_TABLE_GPU = re.compile(r"^\|\s*(?P<index>\d+)\s+\S.*\|\s*[0-9A-F]{8}:[0-9A-F]{2}:")
_LOOP = re.compile(rf"^(?:{_STAMP.pattern}) +{SIZE.format('size')}(?P<what> used| RSS)?\s*$")
_FREE = re.compile(
    r"^Mem: +(?P<all>[\d.]+[BKMGTi]*) +(?P<used>[\d.]+[BKMGTi]*) +(?P<free>[\d.]+[BKMGTi]*)(?: |$)"
)
# `rss=2048 MiB`, `RSS (MB): 2048`, `VmRSS: 2345678 kB`: a number without a unit is anyone's.
_RSS = re.compile(
    r"(?i)\b(?:vm)?(?:rss|resident(?: set)?|host (?:ram|memory)|ram used)\b"
    r"(?:[\s=:'\"\[\]>~-]|\b(?:usage|used|memory|is|now|at|size|current|total|peak|max)\b)*"
    rf"(?:\((?P<before>[KMGT]i?B)\)[\s=:]*)?{SIZE.format('size')}"
)
_PSUTIL = re.compile(r"\bpmem\(rss=(?P<bytes>\d+)")
_IN_USE = re.compile(r"(?<![a-z_])bytes_in_use['\"]?\s*[:=]\s*(?P<bytes>\d+)")
_LIMIT = re.compile(r"bytes_limit['\"]?\s*[:=]\s*(?P<bytes>\d+)")
_STATISTICS = 1 << 14  # characters of a line that hold them
# `cuda:1`, `CudaDevice(id=1)`, `TPU_1(process=0,...)`, `device 1`
_DEVICE = re.compile(
    r"(?i)(?<![a-z])(?:\w*device\(id=(?P<id>\d{1,4})"
    r"|(?:cuda|gpu|rocm|tpu|device|dev)(?:_id|[ _-]?(?:no\.?|index))?['\"]?[ _:=#-]{0,3}(?P<number>\d{1,4})\b)"
)
_FREE_WORDS = re.compile(
    r"(?i)\b(?:free|available|avail|unused|remaining|limit(?:ed)?|total|max(?:imum)?)\W{1,2}$"
)
_WORDS_OF_RSS = ("rss", "RSS", "RAM", "host mem", "Host mem", "esident")
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
        self._unmarked = Unmarked()
        self._places = smi_csv.Places()
        self._turns: dict[tuple[str, str], tuple[int | None, int]] = {}

    def feed(self, line: Line, step: int | None) -> bool:
        """Whether the line is nothing but a sample."""
        text = line.text
        if not text:
            return False
        if self._alone(line, step):
            return True
        if any(word in text for word in ("[MiB]", "memory.", "used_gpu_memory", "used_memory")):
            names = smi_csv.columns(text)
            if names is not None:
                self._columns[line.file, line.rank] = names
                if "pid" in names:
                    self.processes.begin_on_gpu(line)
                return True
        writer = line.file, line.rank
        columns = self._columns.get(writer)
        if columns and text.count(",") == len(columns) - 1:
            return self._csv(line, columns, step)
        first = text[0]
        if first == "|":
            return self._table(line, step)
        if first.isdigit():
            if smi_csv.ROW.match(text):
                timestamp, *rest = smi_csv.cells(text)
                return self._on_gpu(line, smi_csv.bare_row(rest), timestamp, step)
            if text[2:3] == ":" or text[4:5] in "-/":
                return self._loop(line, step)
        if first == "M" and text.startswith("Mem:"):
            return self._free(line, step)
        if self.processes.feed(line):
            self._resident(line, step)
            return True
        return self._printed(line, step)

    # ------------------------------------------------------------ the formats

    def _csv(self, line: Line, columns: list[str], step: int | None) -> bool:
        of = dict(zip(columns, smi_csv.cells(line.text), strict=False))
        if "pid" in of:
            held = smi_csv.mebibytes(of.get("used_gpu_memory") or of.get("used_memory") or "")
            return self.processes.on_gpu(line, of["pid"], of.get("process_name", ""), held)
        return self._on_gpu(line, smi_csv.row(of), of.get("timestamp", ""), step)

    def _on_gpu(self, line: Line, row: smi_csv.Row, timestamp: str, step: int | None) -> bool:
        when = self._time(line, _STAMP.match(timestamp))
        place = self._places.of(line, when)
        if row.used is None:
            return False
        name = f"gpu {row.gpu}" if row.gpu else f"gpu {place}" + (f" ({row.name})" if row.name else "")
        self._add(line, name, row.used, when, step, device=True, capacity=row.capacity)
        return True

    def _table(self, line: Line, step: int | None) -> bool:
        writer = line.file, line.rank
        if line.text.startswith("| Processes:"):
            self.processes.begin_on_gpu(line)
        gpu = _TABLE_GPU.match(line.text)
        if gpu:
            self._gpu[writer] = gpu["index"]
            return True
        found = _TABLE.search(line.text)
        if found:
            name = f"gpu {self._gpu.get(writer, '0')}"
            used, capacity = int(found["used"]) << 20, int(found["all"]) << 20
            self._add(line, name, used, self._when.get(writer), step, device=True, capacity=capacity)
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
        readings = self._unmarked.timed(line, step)
        self._believe(readings or [])
        return readings is not None

    def _alone(self, line: Line, step: int | None) -> bool:
        readings = self._unmarked.alone(line, step)
        self._believe(readings or [])
        if readings is None and self._unmarked.is_mixed(line.file, line.rank):
            self.series.pop(_named(line, unmarked.RSS), None)
        return readings is not None

    def _believe(self, readings: Iterable[unmarked.Reading]) -> None:
        for reading in readings:
            when = self._time(reading.line, _STAMP.match(reading.clock))
            self._add(reading.line, reading.name, reading.used, when, reading.step)

    def _free(self, line: Line, step: int | None) -> bool:
        found = _FREE.match(line.text)
        if not found:
            return False
        unit = _unit_of_free(found["all"])
        capacity, used, free = (_with_unit(found[key], unit) for key in ("all", "used", "free"))
        if used is None or free is None or not capacity or max(used, free) > capacity:
            return False
        self._add(line, "host", used, self._when.get((line.file, line.rank)), step, capacity=capacity)
        return True

    def _resident(self, line: Line, step: int | None) -> None:
        process = self.processes.last
        if process is not None and process.resident:
            when = self._when.get((line.file, line.rank))
            name = f"rss {process.pid}" if process.pid else "rss"
            self._add(line, name, process.resident, when, step)

    def _printed(self, line: Line, step: int | None) -> bool:
        text = line.text
        if "bytes_in_use" in text:
            self._statistics(line, step)
        elif len(text) < 500 and any(word in text for word in _WORDS_OF_RSS):
            used = _resident_bytes(text)
            if used:
                self._add(line, "rss", used, None, step)
        stamp = _STAMP.match(text) if text[:1].isdigit() else None
        if stamp:
            self._time(line, stamp)
        return False

    def _statistics(self, line: Line, step: int | None) -> None:
        """`memory_stats()` as printed: of the device that stands before them, else one after another."""
        text = line.text
        limits = [int(found["bytes"]) for found in _LIMIT.finditer(text)]
        in_use = list(_IN_USE.finditer(text, 0, _STATISTICS))
        begin = 0
        for index, found in enumerate(in_use):
            device = [*_DEVICE.finditer(text, begin, found.start())][-1:]
            if device:
                name = f"gpu {device[0]['id'] or device[0]['number']} bytes_in_use"
            else:
                name = _numbered(index if len(in_use) > 1 else self._turn(line, step))
            capacity = limits[index] if len(limits) == len(in_use) else None
            self._add(line, name, int(found["bytes"]), None, step, device=True, capacity=capacity)
            begin = found.end()

    def _turn(self, line: Line, step: int | None) -> int:
        """How many such lines the step before has had already, where there are steps."""
        writer = line.file, line.rank
        before, turn = self._turns.get(writer, (None, -1))
        turn = turn + 1 if step is not None and step == before else 0
        self._turns[writer] = step, turn
        return turn

    # ------------------------------------------------------------ keeping them

    def _add(
        self,
        line: Line,
        name: str,
        used: int,
        when: float | None,
        step: int | None,
        *,
        device: bool = False,
        capacity: int | None = None,
    ) -> None:
        name = _named(line, name)
        if name not in self.series and len(self.series) >= _SERIES:
            return
        series = self.series.setdefault(name, Series(name, device))
        series.add(Sample(Place(line.file, line.number), used, when, step))
        series.capacity = capacity or series.capacity

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


def _numbered(place: int) -> str:
    return "gpu bytes_in_use" + (f" (no. {place + 1} at each step)" if place else "")


def _named(line: Line, name: str) -> str:
    return f"{name} (rank {line.rank})" if line.rank else name


def _resident_bytes(text: str) -> int | None:
    """What a line says that a process has resident."""
    of_psutil = _PSUTIL.search(text)
    if of_psutil:
        return int(of_psutil["bytes"])
    found = _RSS.search(text)
    if found and _FREE_WORDS.search(text[: found.start()][-20:]):
        return None
    unit = (found["size_unit"] or found["before"]) if found else ""
    return _guarded(size, found["size"], unit) if found and unit else None


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
