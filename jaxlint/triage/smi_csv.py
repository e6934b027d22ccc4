"""What `nvidia-smi --query-gpu=... --format=csv` writes: which column is memory in use, and of which GPU a row is.

Rows are told apart by what they name: index, bus, UUID; else by their place among the rows of one moment, which
bear the same timestamp but for a few milliseconds. Without a header the cells must speak for themselves, and where
there are more sizes than two nothing is read.
"""

from __future__ import annotations

import csv
import re
from typing import NamedTuple

from jaxlint.triage.reading import Line
from jaxlint.triage.sizes import parse

ROW = re.compile(r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}, ")

_USED = ("memory.used", "used_gpu_memory", "used_memory")
_IDENTITIES = ("index", "pci.bus_id", "gpu_bus_id", "pci.bus", "uuid", "gpu_uuid", "serial", "gpu_serial")
_NAMES = ("name", "gpu_name")
_IDENTITY = re.compile(r"(?:GPU|MIG)-[\w-]+|[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d|\d|1[0-5]")
_SAME_MOMENT = 0.05  # seconds; nvidia-smi is not asked more often than that


class Row(NamedTuple):
    """A row. Bytes, None where it does not say; `gpu` is what it is called, "" where nothing in it tells."""

    used: int | None
    capacity: int | None
    gpu: str
    name: str


def columns(text: str) -> list[str] | None:
    """The names of the columns where a line is a header that memory stands in."""
    names = [name.strip().removesuffix(" [MiB]").removesuffix(" [%]") for name in text.split(",")]
    known = {*_USED, "memory.free", "memory.total"}
    return names if known & set(names) else None


def cells(text: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([text]))]


def row(of: dict[str, str]) -> Row:
    """What a row says whose columns have names."""
    used = next((mebibytes(of[key]) for key in _USED if key in of), None)
    capacity, free = mebibytes(of.get("memory.total", "")), mebibytes(of.get("memory.free", ""))
    if used is None and not any(key in of for key in _USED) and capacity is not None and free is not None:
        used = capacity - free
    gpu = next((of[key] for key in _IDENTITIES if of.get(key)), "")
    return Row(used, capacity, gpu, next((of[key] for key in _NAMES if of.get(key)), ""))


def bare_row(rest: list[str]) -> Row:
    """What the cells behind a timestamp say where there is no header: one size is memory in use, the larger of two
    the whole."""
    if len(rest) == 1:
        return Row(mebibytes(rest[0]), None, "", "")
    sizes = [size for cell in rest if cell.endswith("iB") and (size := parse(cell)) is not None]
    gpu = next((cell for cell in rest if _IDENTITY.fullmatch(cell)), "")
    if not 1 <= len(sizes) <= 2:
        return Row(None, None, gpu, "")
    return Row(min(sizes), max(sizes) if len(sizes) == 2 else None, gpu, "")


def mebibytes(text: str) -> int | None:
    """Bytes of `1234 MiB`, or of `1234` with nounits; `[N/A]` is None."""
    return int(text) << 20 if text.isdigit() else parse(text)


class Places:
    """Counts the rows of one moment, for each log: they stand one below the other."""

    def __init__(self) -> None:
        self._latest: dict[tuple[str, str], tuple[int, float, int]] = {}

    def of(self, line: Line, when: float | None) -> int:
        """The place of a row, from 0. `when` is in seconds; without it there is one GPU."""
        if when is None:
            return 0
        number, before, place = self._latest.get((line.file, line.rank), (0, 0.0, 0))
        below = line.number == number + 1 and 0 <= when - before < _SAME_MOMENT
        place = place + 1 if below else 0
        self._latest[line.file, line.rank] = line.number, when, place
        return place
