"""What was given to read: a capture, a profiler directory, a module with its plan, or a compiler's dump.

What a file is is told by its bytes, not by its name. Files are mapped into memory and never written to, and
nothing is put beside them.
"""

from __future__ import annotations

import mmap
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path

from jaxlint.capture import dump, wire
from jaxlint.capture.error import CaptureError

_CAPTURES = "*.xplane.pb"
_RUN_NAME = re.compile(r"\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d")


class Kind(Enum):
    """What bytes hold."""

    XSPACE = "profiler capture"
    HLO = "HLO module with its buffer assignment"


def files(path: Path) -> list[Path]:
    """The files to read at a path. Raises CaptureError where there is none."""
    if not path.exists():
        raise CaptureError(f"{path}: no such file or directory")
    if not path.is_dir():
        return [path]
    found = captures(path) or sorted(path.glob("*.hlo_proto.pb"))
    if found:
        return found
    if dump.plans(path):
        return [path]
    protos = [file for file in sorted(path.glob("*.hlo.pb")) if "after_optimizations" in file.name]
    if not protos:
        raise CaptureError(
            f"{path}: neither a .xplane.pb file nor the buffer assignment of an XLA dump (*-buffer-assignment.txt)"
        )
    return protos


def captures(path: Path) -> list[Path]:
    """The captures in a directory: those of the newest run, one for each host. Empty where there are none."""
    runs: dict[Path, list[Path]] = {}
    for directory, inner, files in os.walk(path):
        inner.sort()
        found = sorted(Path(directory, name) for name in files if name.endswith(".xplane.pb"))
        if found:
            runs[Path(directory)] = found
    if path in runs:
        return runs[path]
    return runs[max(runs, key=_age)] if runs else []


def _age(run: Path) -> tuple[str, float, str]:
    """Runs are named by the time they began; others are told by the time of their files."""
    name = run.name if _RUN_NAME.match(run.name) else ""
    times = [file.stat().st_mtime for file in run.glob(_CAPTURES)]
    return name, max(times, default=0.0), str(run)


@contextmanager
def opened(path: Path) -> Iterator[wire.Data]:
    """The bytes of a file, mapped. Raises CaptureError."""
    try:
        if not path.is_file():
            raise CaptureError(f"{path}: not a regular file")
        with open(path, "rb") as stream:
            if not os.fstat(stream.fileno()).st_size:
                raise CaptureError(f"{path}: empty")
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except CaptureError:
        raise
    except (OSError, ValueError) as error:  # ValueError: what cannot be mapped, or a null byte in the name
        raise CaptureError(f"{path}: cannot read: {getattr(error, 'strerror', None) or error}") from None
    try:
        yield data
    except wire.Damaged as error:
        raise CaptureError(f"{path}: {error}") from None
    finally:
        with suppress(BufferError):
            data.close()


def kind(path: Path, data: wire.Data) -> Kind:
    """What a file holds. Raises CaptureError for what is neither a capture nor a module."""
    if data[:2] == b"\x1f\x8b":
        hint = " (a device memory profile goes with --memory-prof)" if path.suffix == ".prof" else ""
        raise CaptureError(f"{path}: compressed with gzip; unpack it first: {_unpacking(path)}{hint}")
    if data[:4] == b"PK\x03\x04":
        raise CaptureError(f"{path}: a zip archive; unpack it first")
    try:
        return _kind(path, data)
    except wire.Damaged as error:
        if _printable(data):
            raise CaptureError(f"{path}: a text file, not a profiler capture (.xplane.pb)") from None
        raise CaptureError(f"{path}: not a profiler capture (.xplane.pb), or damaged: {error}") from None


def _unpacking(path: Path) -> str:
    """The command for it; gzip itself refuses a name that does not end in .gz."""
    name = shlex.quote(str(path))
    if path.suffix == ".gz":
        return f"gzip -dk {name}"
    return f"gzip -dc < {name} > {shlex.quote(str(path.with_name(f'unpacked-{path.name}')))}"


def _kind(path: Path, data: wire.Data) -> Kind:
    """XSpace and HloProto are both messages of messages; the first one inside tells them apart."""
    outer: dict[int, int] = {}
    inner: dict[int, int] | None = None
    for number, form, start, end in wire.fields(data, 0, len(data)):
        outer.setdefault(number, form)
        if number == 1 and form == wire.BYTES and inner is None:
            inner = _forms(data, start, end)
    if inner is not None and outer.keys() <= {1, 2, 3, 4} and _is_plane(inner):
        return Kind.XSPACE
    if inner is not None and inner.get(1) == inner.get(3) == wire.BYTES:
        if 3 in outer:
            return Kind.HLO
        raise CaptureError(f"{path}: an HLO module without its buffer assignment, so without a memory plan")
    if inner is None and outer and outer.keys() <= {2, 3, 4}:
        raise CaptureError(f"{path}: a profiler capture without a plane: nothing was recorded")
    raise CaptureError(f"{path}: not a profiler capture (.xplane.pb)")


def _is_plane(forms: dict[int, int]) -> bool:
    """XPlane: an id, a name, then lines, two tables and stats."""
    expected = {1: wire.VARINT, 2: wire.BYTES, 3: wire.BYTES, 4: wire.BYTES, 5: wire.BYTES, 6: wire.BYTES}
    return all(expected.get(number) == form for number, form in forms.items())


def _forms(data: wire.Data, start: int, end: int) -> dict[int, int]:
    """The wire types of a message's fields; of one that is none, an impossible one."""
    try:
        return {number: form for number, form, _, _ in wire.fields(data, start, end)}
    except wire.Damaged:
        return {0: -1}


def _printable(data: wire.Data) -> bool:
    try:
        return bytes(data[:512]).decode("utf-8", "strict").isprintable() or b"\n" in data[:512]
    except UnicodeDecodeError:
        return False
