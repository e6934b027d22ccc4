"""`jaxlint oom CAPTURE`: where the memory of a run went, from what the profiler or the compiler left behind."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from jaxlint.cli import status


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "oom", help="explain device memory from a profiler capture"
    )
    parser.add_argument("capture", metavar="CAPTURE", help="a .xplane.pb file or a profiler directory")
    parser.add_argument("--module", metavar="NAME", help="break down this module: 'jit_step(12)' or jit_step")
    parser.add_argument("--device", type=_count, metavar="N", help="report on this device (the tightest)")
    parser.add_argument("--top", type=_count, default=10, metavar="N", help="list so many buffers (10)")


def run(args: argparse.Namespace) -> int:
    """Report on each capture. What cannot be read is one line on stderr, and exit status 2."""
    from jaxlint.capture import load, text_report
    from jaxlint.capture.error import CaptureError

    result = status.CLEAN
    try:
        for number, found in enumerate(
            load.reports(Path(args.capture), load.Wanted(args.module, args.device))
        ):
            if isinstance(found, CaptureError):
                status.complain(str(found))
                result = status.FAILED
                continue
            if number:
                print()
            for line in text_report.lines(found, args.top):
                print(line)
    except CaptureError as error:
        status.complain(str(error))
        return status.FAILED
    return result


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0")
    return int(text)
