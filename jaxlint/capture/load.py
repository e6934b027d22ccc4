"""From a path to the reports on what is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from jaxlint.capture import diagnosis, inputs, report, subject, wire
from jaxlint.capture.error import CaptureError
from jaxlint.capture.inputs import Kind
from jaxlint.capture.report import Report
from jaxlint.capture.subject import Subject


class Wanted(NamedTuple):
    """What was asked for: a module by name, a device by number."""

    module: str | None = None
    device: int | None = None


def reports(path: Path, wanted: Wanted) -> Iterator[Report | CaptureError]:
    """A report on each capture at a path, or what is wrong with it. Raises CaptureError where nothing is there."""
    for file in inputs.files(path):
        try:
            with inputs.opened(file) as data:
                yield _report(file, data, wanted)
        except CaptureError as error:
            yield error


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
