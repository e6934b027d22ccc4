"""`memory.prof`: what `jax.profiler.save_device_memory_profile` writes, a gzipped pprof profile.

It tells the one thing that a capture cannot: the Python line that allocated an array which is alive since before
the capture began.
"""

from __future__ import annotations

import zlib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from jaxlint.capture import wire
from jaxlint.capture.error import CaptureError
from jaxlint.capture.frames import Frame, user_frames

_LARGEST = 256 << 20  # bytes, unpacked


class LiveArrays(NamedTuple):
    """Live arrays, or executables, that one stack allocated. `size` in bytes."""

    size: int
    number: int
    kind: str  # "buffer" or "executable"
    device: str
    frames: tuple[Frame, ...]  # of the program itself, innermost first


def read(path: Path) -> list[LiveArrays]:
    """Largest first. Raises CaptureError."""
    try:
        packed = path.read_bytes() if path.stat().st_size <= _LARGEST else b""
    except (OSError, ValueError) as error:
        raise CaptureError(f"{path}: cannot read: {getattr(error, 'strerror', None) or error}") from None
    if not packed:
        raise CaptureError(f"{path}: empty, or too large for a device memory profile")
    try:
        found = _Profile(_unpacked(packed)).arrays()
    except (wire.Damaged, zlib.error) as error:
        raise CaptureError(
            f"{path}: not a device memory profile (memory.prof), or damaged: {error}"
        ) from None
    if found is None:
        raise CaptureError(f"{path}: a profile, but not of device memory: it counts no bytes")
    return found


def _unpacked(packed: bytes) -> bytes:
    if packed[:2] != b"\x1f\x8b":
        return packed
    stream = zlib.decompressobj(wbits=31)
    data = stream.decompress(packed, _LARGEST)
    if not stream.eof:
        raise wire.Damaged("it is cut off" if not stream.unconsumed_tail else "it is larger than 256 MiB")
    return data


class _Profile:
    """profile.proto, as far as it is needed."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._texts: list[str] = []
        self._types: list[tuple[int, int]] = []  # name, unit
        self._samples: list[tuple[int, int]] = []
        self._locations: dict[int, list[tuple[int, int]]] = {}  # function, line
        self._functions: dict[int, tuple[int, int]] = {}  # name, file
        for number, kind, start, end in wire.fields(data, 0, len(data)):
            if kind == wire.BYTES:
                self._read(number, start, end)

    def _read(self, number: int, start: int, end: int) -> None:
        if number == 6:
            self._texts.append(wire.text(self._data, start, end))
        elif number == 1:
            entry = wire.numbers(self._data, start, end)
            self._types.append((entry.get(1, 0), entry.get(2, 0)))
        elif number == 2:
            self._samples.append((start, end))
        elif number == 5:
            entry = wire.numbers(self._data, start, end)
            self._functions[entry.get(1, 0)] = entry.get(2, 0), entry.get(4, 0)
        elif number == 4:
            identity, lines = 0, []
            for sub, kind, value, stop in wire.fields(self._data, start, end):
                if sub == 1 and kind == wire.VARINT:
                    identity = value
                elif sub == 4 and kind == wire.BYTES:
                    entry = wire.numbers(self._data, value, stop)
                    lines.append((entry.get(1, 0), wire.signed(entry.get(2, 0))))
            self._locations[identity] = lines

    def arrays(self) -> list[LiveArrays] | None:
        """One entry for each stack, kind and device, largest first; None where no column counts bytes."""
        units = [self._text(unit) for _, unit in self._types]
        if "bytes" not in units:
            return None
        sizes: Counter[tuple[str, str, tuple[Frame, ...]]] = Counter()
        counts: Counter[tuple[str, str, tuple[Frame, ...]]] = Counter()
        for start, end in self._samples:
            key, values = self._sample(start, end)
            for unit, value in zip(units, values, strict=False):
                (sizes if unit == "bytes" else counts)[key] += max(value, 0)
        return [
            LiveArrays(size, counts[key], key[0], key[1], user_frames(key[2]))
            for key, size in sizes.most_common()
        ]

    def _sample(self, start: int, end: int) -> tuple[tuple[str, str, tuple[Frame, ...]], list[int]]:
        locations: list[int] = []
        values: list[int] = []
        labels: dict[str, str] = {}
        for field in wire.fields(self._data, start, end):
            if field[0] == 1:
                locations.extend(wire.integers(self._data, field))
            elif field[0] == 2:
                values.extend(wire.integers(self._data, field))
            elif field[0] == 3 and field[1] == wire.BYTES:
                label = wire.numbers(self._data, field[2], field[3])
                labels[self._text(label.get(1, 0))] = self._text(label.get(2, 0))
        frames = tuple(self._frame(*line) for at in locations for line in self._locations.get(at, ()))
        return (labels.get("kind", ""), labels.get("device", ""), frames), values

    def _frame(self, function: int, line: int) -> Frame:
        name, file = self._functions.get(function, (0, 0))
        return Frame(self._text(file), line, self._text(name))

    def _text(self, index: int) -> str:
        return self._texts[index] if 0 <= index < len(self._texts) else ""
