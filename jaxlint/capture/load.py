"""From a path to the reports on what is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from jaxlint.capture import claims_live, diagnosis, dump, inputs, memory_profile, report, subject, wire
from jaxlint.capture.error import Absent, CaptureError
from jaxlint.capture.inputs import Kind
from jaxlint.capture.memory_profile import LiveArrays
from jaxlint.capture.report import Report
from jaxlint.capture.subject import Subject
from jaxlint.record import replace


class Wanted(NamedTuple):
    """What was asked for: a module by name, a device by number, a memory profile of the same run."""

    module: str | None = None
    device: int | None = None
    memory_profile: Path | None = None


def reports(path: Path, wanted: Wanted) -> Iterator[Report | CaptureError]:
    """A report on each capture at a path, or what is wrong with it. Raises CaptureError where nothing is there.

    A file that lacks the module or the device that was asked for is passed over where another one has it.
    """
    absent: list[Absent] = []
    whole = 0
    for found in _each(path, wanted):
        if isinstance(found, Absent):
            absent.append(found)
            continue
        whole += isinstance(found, Report)
        yield found
    if absent and not whole:
        yield _nowhere(path, absent)


def _nowhere(path: Path, absent: list[Absent]) -> CaptureError:
    """What was asked for is in none of the files: one line for all of them."""
    if len(absent) == 1:
        return absent[0]
    first = absent[0]
    return Absent(path, first.what, (other for error in absent for other in error.others), first.there)


def _each(path: Path, wanted: Wanted) -> Iterator[Report | CaptureError]:
    arrays = memory_profile.read(wanted.memory_profile) if wanted.memory_profile is not None else []
    for file in inputs.files(path):
        try:
            if file.is_dir():
                yield _with_arrays(
                    _described(Subject(file, list(dump.modules(file)), wanted=wanted.module)), arrays
                )
                continue
            with inputs.opened(file) as data:
                yield _with_arrays(_report(file, data, wanted), arrays)
        except CaptureError as error:
            yield error


def tightness(report: Report) -> tuple[bool, float, str]:
    """By which reports are sorted: first what failed, then what had the least left."""
    pool = report.pools[0] if report.pools else None
    left = (
        (pool.capacity - max(report.need or 0, pool.peak)) / max(pool.capacity, 1)
        if pool is not None
        else 1.0
    )
    return not report.failed, left, report.path


def _with_arrays(found: Report, arrays: list[LiveArrays]) -> Report:
    if not arrays:
        return found
    return replace(found, live_arrays=tuple(arrays), claims=(*found.claims, *claims_live.live_arrays(arrays)))


def _report(path: Path, data: wire.Data, wanted: Wanted) -> Report:
    if inputs.kind(path, data) is Kind.HLO:
        found = subject.of_module(path, data, wanted.module)
    else:
        found = subject.of_capture(path, data, wanted.module, wanted.device)
    return _described(found)


def _described(found: Subject) -> Report:
    if found.empty:
        raise CaptureError(
            f"{found.path}: neither a compiled module nor an allocator event is in it: nothing to report"
        )
    return report.build(found, diagnosis.of(found))
