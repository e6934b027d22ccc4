"""`jaxlint oom CAPTURE`: where the memory of a run went, from what the profiler or the compiler left behind."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxlint.cli import status

if TYPE_CHECKING:
    from jaxlint.capture.report import Report

_DESCRIPTION = """Reads a profiler capture (.xplane.pb), a profiler's directory (its newest run, all hosts), a
module with its memory plan (.hlo_proto.pb) or the directory of an XLA dump, and says what the memory plan is made
of, what was live, and why the last step did not fit. Nothing is run, and nothing is written beside the capture."""
_STDOUT = "-"


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "oom", help="explain device memory from a profiler capture or a dump", description=_DESCRIPTION
    )
    parser.add_argument("capture", type=_named, metavar="CAPTURE", nargs="?", help="a file or a directory")
    parser.add_argument(
        "--module", type=_named, metavar="NAME", help="break down this module: 'jit_step(12)' or jit_step"
    )
    parser.add_argument("--device", type=_count, metavar="N", help="report on this device (the tightest)")
    parser.add_argument("--top", type=_count, default=10, metavar="N", help="list so many buffers (10)")
    parser.add_argument(
        "--memory-prof", type=_named, metavar="FILE", help="a device memory profile of the same run"
    )
    parser.add_argument(
        "--source",
        nargs="+",
        type=_named,
        metavar="PATH",
        help="name the findings in this source, with their fixes",
    )
    parser.add_argument(
        "--json",
        nargs="?",
        type=_named,
        const=_STDOUT,
        metavar="FILE",
        help="JSON, to a file if one is named",
    )
    parser.add_argument(
        "--html", type=_named, metavar="FILE", help="write one self-contained page with pictures, too"
    )
    parser.add_argument("--self-test", action="store_true", help="read a capture that is made for it")


def run(args: argparse.Namespace) -> int:
    """Report on each capture. What cannot be read is one line on stderr, and exit status 2."""
    from jaxlint.capture.error import CaptureError

    if args.capture is None and args.json not in (None, _STDOUT):
        args.capture, args.json = args.json, _STDOUT  # `oom --json CAPTURE`
    try:
        if args.self_test:
            return _self_test()
        if args.capture is None:
            raise CaptureError("name a capture: jaxlint oom CAPTURE")
        return _report(args)
    except CaptureError as error:
        status.complain(str(error))
        return status.FAILED


def _self_test() -> int:
    from jaxlint.capture import self_test

    problems = self_test.problems()
    for problem in problems:
        status.complain(f"self-test: {problem}")
    if not problems:
        print("self-test passed: a capture that was made for it reads as it was made")
    return status.FAILED if problems else status.CLEAN


def _report(args: argparse.Namespace) -> int:
    from jaxlint.capture import load, text_report
    from jaxlint.capture.error import CaptureError

    result = status.CLEAN
    reports: list[Report] = []
    for found in load.reports(Path(args.capture), load.Wanted(args.module, args.device, _profile(args))):
        if isinstance(found, CaptureError):
            status.complain(str(found))
            result = status.FAILED
        else:
            reports.append(found)
    reports.sort(key=load.tightness)
    if args.source:
        reports, whole = _with_source(reports, args.source)
        result = result if whole else status.FAILED
    if not reports:
        return result
    if args.html and not _write(args.html, _inputs(args), lambda: _page(reports, args.top)):
        return status.FAILED
    if args.json is None:
        for number, report in enumerate(reports):
            print("\n" * bool(number) + "\n".join(text_report.lines(report, args.top)))
    elif not _write(args.json, _inputs(args), lambda: _json(reports)):
        return status.FAILED
    return result


def _profile(args: argparse.Namespace) -> Path | None:
    return Path(args.memory_prof) if args.memory_prof else None


def _page(reports: Sequence[Report], top: int) -> str:
    from jaxlint.capture import html_report

    return html_report.page(reports, top)


def _json(reports: Sequence[Report]) -> str:
    from jaxlint.capture import json_report

    return json_report.text(reports)


def _with_source(reports: list[Report], paths: Sequence[str]) -> tuple[list[Report], bool]:
    """The reports with what the analysis finds at their lines, and whether all paths could be read."""
    from jaxlint.capture import source_join

    findings, problems = source_join.findings_in(paths, source_join.codes_of(reports))
    for problem in problems:
        status.complain(problem)
    return [source_join.joined(report, findings) for report in reports], not problems


def _inputs(args: argparse.Namespace) -> list[str]:
    return [args.capture, *filter(None, [args.memory_prof]), *(args.source or ())]


def _write(path: str, inputs: Sequence[str], make: Callable[[], str]) -> bool:
    """Write an output. False, and a line on stderr, where that cannot be done."""
    from jaxlint.project import writing

    if path == _STDOUT:
        sys.stdout.write(make())
        return True
    if writing.is_input(path, inputs):
        status.complain(f"{path}: this is what was given to be read")
        return False
    try:
        writing.write(path, make().encode("utf-8", "replace"))
    except OSError as error:
        status.complain(f"{path}: cannot write: {error.strerror}")
        return False
    return True


def _named(text: str) -> str:
    """What a shell's empty variable leaves names nothing, and is not the directory at hand."""
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty name")
    return text


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0")
    return int(text)
